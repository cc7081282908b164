// SPDX-License-Identifier: Apache-2.0
#include "inflater.hpp"

#include <kube/transport/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace kube::detail {

struct Inflater::State {
  z_stream stream{};
  State() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Inflater::Inflater() = default;
Inflater::~Inflater() = default;

void Inflater::rest() noexcept {
  if (between_members_) state_.reset();
}

void Inflater::run(std::string_view& input, std::string& output, std::size_t limit,
                   std::string_view what) {
  if (!state_) state_ = std::make_unique<State>();
  z_stream& stream = state_->stream;
  output.resize(limit);
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(limit);
  while (stream.avail_out > 0 && (!input.empty() || more_)) {
    if (between_members_) inflateReset(&stream);
    between_members_ = false;
    const auto size =
        static_cast<uInt>(std::min<std::size_t>(input.size(), std::numeric_limits<uInt>::max()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream.avail_in = size;
    const int result = inflate(&stream, Z_NO_FLUSH);
    input.remove_prefix(size - stream.avail_in);
    between_members_ = result == Z_STREAM_END;
    more_ = !between_members_ && stream.avail_out == 0;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      throw TransportError(TransportError::Kind::kProtocol,
                           fmt::format("{}: the body says it is gzip, but it is not: {}", what,
                                       stream.msg != nullptr ? stream.msg : "invalid data"));
    }
  }
  output.resize(limit - stream.avail_out);
}

}  // namespace kube::detail
