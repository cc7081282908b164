// SPDX-License-Identifier: Apache-2.0
// Volumes of pods and templates.
#include <fmt/format.h>

#include <array>
#include <set>
#include <string>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/string_formats.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kAllModes = 0777;
constexpr std::int64_t kShortestToken = 600;

void check_mode(const Field& mode) {
  if (!mode.number() || (*mode.number() >= 0 && *mode.number() <= kAllModes)) return;
  mode.invalid("must be a number between 0 and 0777 (octal), both inclusive");
}

void check_items(const Field& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Field item = items.at(i);
    check_required(item["key"]);
    if (check_required(item["path"])) check_local_path(item["path"]);
    check_mode(item["mode"]);
  }
}

void check_downward_files(const Field& source) {
  for (std::size_t i = 0; i < source["items"].size(); ++i) {
    const Field file = source["items"].at(i);
    if (check_required(source["path"].with(file["path"].value()))) {
      check_local_path(source["path"].with(file["path"].value()));
    }
    const Value& field = file["fieldRef"].value();
    const Value& resource = file["resourceFieldRef"].value();
    if (field.is_object()) {
      check_downward_field(source["fieldRef"].with(field));
      if (resource.is_object()) {
        source.invalid("", "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (resource.is_object()) {
      check_downward_resource(source["resourceFieldRef"].with(resource));
    } else {
      source.required("one of fieldRef and resourceFieldRef is required");
    }
    check_mode(file["mode"]);
  }
}

void check_projected(const Field& projected) {
  check_mode(projected["defaultMode"]);
  for (std::size_t i = 0; i < projected["sources"].size(); ++i) {
    const Field source = projected["sources"].at(i);
    for (const char* kind : {"secret", "configMap"}) {
      if (!source[kind].is_set()) continue;
      check_required(source[kind]["name"]);
      check_items(source[kind]["items"]);
    }
    if (source["downwardAPI"].is_set()) check_downward_files(source["downwardAPI"]);
    const Field token = source["serviceAccountToken"];
    if (!token.is_set()) continue;
    if (const auto seconds = token["expirationSeconds"].number();
        seconds && *seconds < kShortestToken) {
      token["expirationSeconds"].invalid("may not specify a duration less than 10 minutes");
    }
    if (check_required(token["path"])) check_local_path(token["path"]);
  }
}

void check_source(const Field& volume, std::string_view kind) {
  const Field source = volume[kind];
  if (kind == "emptyDir") {
    if (const auto size = quantity_of(source["sizeLimit"].value()); size && *size < Quantity{"0"}) {
      source["sizeLimit"].forbidden("SizeLimit field must be a valid resource quantity");
    }
  } else if (kind == "hostPath") {
    check_host_path(source);
  } else if (kind == "nfs") {
    check_nfs(source);
  } else if (kind == "configMap" || kind == "secret") {
    check_required(source[kind == "secret" ? "secretName" : "name"]);
    check_mode(source["defaultMode"]);
    check_items(source["items"]);
  } else if (kind == "persistentVolumeClaim") {
    check_required(source["claimName"]);
  } else if (kind == "downwardAPI") {
    check_mode(source["defaultMode"]);
    check_downward_files(source);
  } else if (kind == "projected") {
    check_projected(source);
  } else if (kind == "csi") {
    if (check_required(source["driver"])) check_text(source["driver"], dns1123_subdomain_problems);
  } else if (kind == "ephemeral") {
    if (!source["volumeClaimTemplate"].is_set()) {
      source["volumeClaimTemplate"].required();
    } else {
      check_claim_spec(source["volumeClaimTemplate"]["spec"]);
    }
  }
}

void check_volume(const Field& volume) {
  std::size_t sources = 0;
  // In the order of the real server's checks: all sources after the first are rejected.
  static constexpr std::array<std::string_view, 29> kKinds{"emptyDir",
                                                           "hostPath",
                                                           "gitRepo",
                                                           "gcePersistentDisk",
                                                           "awsElasticBlockStore",
                                                           "secret",
                                                           "nfs",
                                                           "iscsi",
                                                           "glusterfs",
                                                           "flocker",
                                                           "persistentVolumeClaim",
                                                           "rbd",
                                                           "cinder",
                                                           "cephfs",
                                                           "quobyte",
                                                           "downwardAPI",
                                                           "fc",
                                                           "configMap",
                                                           "azureFile",
                                                           "vsphereVolume",
                                                           "photonPersistentDisk",
                                                           "portworxVolume",
                                                           "azureDisk",
                                                           "storageos",
                                                           "projected",
                                                           "scaleIO",
                                                           "csi",
                                                           "ephemeral",
                                                           "image"};
  for (const std::string_view kind : kKinds) {
    if (!volume.value()[kind].is_object()) continue;
    if (++sources > 1) {
      volume[kind].forbidden("may not specify more than 1 volume type");
    } else {
      check_source(volume, kind);
    }
  }
}

}  // namespace

void check_path_without_backsteps(const Field& path) {
  std::string_view rest = path.text();
  while (true) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      path.invalid("must not contain '..'");
      return;
    }
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void check_local_path(const Field& path) {
  if (path.text().starts_with('/')) path.invalid("must be a relative path");
  check_path_without_backsteps(path);
}

void check_host_path(const Field& source) {
  if (!check_required(source["path"])) return;
  check_path_without_backsteps(source["path"]);
  check_one_of(source["type"], {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate",
                                "File", "FileOrCreate", "Socket"});
}

void check_nfs(const Field& source) {
  check_required(source["server"]);
  check_required(source["path"]);
  if (!source["path"].text().starts_with('/')) {
    source["path"].invalid(source["path"].text(), "must be an absolute path");
  }
}

void check_volumes(const Field& volumes) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Field volume = volumes.at(i);
    const Field name = volume["name"];
    if (check_required(name)) {
      check_text(name, dns1123_label_problems);
      if (!names.emplace(name.text()).second) name.duplicate();
    }
    check_volume(volume);
  }
}

}  // namespace kube::testkit::detail
