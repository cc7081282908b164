// SPDX-License-Identifier: Apache-2.0
#include "testkit/printing/table.hpp"

#include "testkit/values/json_path.hpp"
#include "values.hpp"

#include <kube/api/time_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace kube::testkit::detail {
namespace {

using std::chrono::seconds;
using test::json;
using test::text;

Clock::WallTime at(std::string_view time) {
  return time_text::time_point_from_seconds(*time_text::parse_seconds(time));
}

const Clock::WallTime kNow = at("2026-11-15T12:00:00Z");

std::string names(const TablePrinter& printer, int most_priority = 0) {
  std::string result;
  for (const Value& column : printer.columns().as_array()) {
    if (column["priority"].as_integer() > most_priority) continue;
    result += (result.empty() ? "" : ", ") + std::string{column["name"].as_string()};
  }
  return result;
}

/// Removes the escapes of angle brackets in JSON.
std::string plain(const Value& value) {
  std::string result = text(value);
  for (const auto& [escape, sign] : {std::pair{"\\u003c", "<"}, std::pair{"\\u003e", ">"}}) {
    for (std::size_t at = 0; (at = result.find(escape, at)) != std::string::npos;)
      result.replace(at, 6, sign);
  }
  return result;
}

std::string cells(std::string_view group, std::string_view kind, std::string_view object) {
  return plain(TablePrinter::for_builtin(group, kind)
                   .row(json(object), IncludeObject::kNone, kNow)["cells"]);
}

// TB-4, TB-1: compares with the recorded answer of a real server for the same pods
TEST(Table, ShowsPodsAsARealServerDoes) {
  const Value recorded = json(test::fixture("pods_table.json"));
  const Value pods = json(test::fixture("core_v1_pods.json"));
  std::map<std::string, const Value*> by_name;
  for (const Value& pod : pods["items"].as_array()) {
    by_name[std::string{*pod.get_string("metadata.name")}] = &pod;
  }
  const TablePrinter printer = TablePrinter::for_builtin("", "Pod");
  ASSERT_EQ(printer.columns().size(), recorded["columnDefinitions"].size());
  for (std::size_t i = 0; i < printer.columns().size(); ++i) {
    for (const char* key : {"name", "type", "format", "priority"}) {
      EXPECT_EQ(printer.columns()[i][key], recorded["columnDefinitions"][i][key]);
    }
  }
  int compared = 0;
  for (const Value& row : recorded["rows"].as_array()) {
    const auto found = by_name.find(std::string{row["cells"][0].as_string()});
    if (found == by_name.end()) continue;
    ++compared;
    Value pod = *found->second;
    const Value made = printer.row(pod, IncludeObject::kMetadata, kNow);
    for (std::size_t i = 0; i < made["cells"].size(); ++i) {
      if (i == 4) continue;  // the age
      EXPECT_EQ(made["cells"][i], row["cells"][i]) << text(row["cells"]);
    }
    EXPECT_EQ(made["object"]["kind"], row["object"]["kind"]);
    EXPECT_EQ(made["object"]["apiVersion"], row["object"]["apiVersion"]);
  }
  EXPECT_GT(compared, 0);
}

// TB-4
TEST(Table, ShowsWhyAPodFails) {
  const auto status = [](std::string_view fields) {
    const Value row = TablePrinter::for_builtin("", "Pod").row(
        json(
            R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"},{"name":"b"}],"initContainers":[{"name":"i"}]},"status":)" +
            std::string{fields} + "}"),
        IncludeObject::kNone, kNow);
    return text(row["cells"][1]) + ' ' + text(row["cells"][2]) + ' ' + text(row["cells"][3]);
  };
  EXPECT_EQ(status(R"({"phase":"Running","containerStatuses":[{"ready":true,"state":{"running":{}}},
      {"ready":false,"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
       "lastState":{"terminated":{"finishedAt":"2026-11-15T11:55:00Z"}}}]})"),
            R"x("1/2" "CrashLoopBackOff" "3 (5m ago)")x");
  EXPECT_EQ(status(R"({"phase":"Pending","initContainerStatuses":[{"state":{"running":{}}}]})"),
            R"("0/2" "Init:0/1" "0")");
  EXPECT_EQ(
      status(
          R"({"phase":"Pending","initContainerStatuses":[{"state":{"terminated":{"exitCode":2}}}]})"),
      R"("0/2" "Init:ExitCode:2" "0")");
  EXPECT_EQ(
      status(
          R"({"phase":"Running","containerStatuses":[{"state":{"terminated":{"reason":"Completed"}}},
      {"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]})"),
      R"("0/2" "Error" "0")");
  EXPECT_EQ(status(R"({"phase":"Failed","reason":"Evicted"})"), R"("0/2" "Evicted" "0")");
  EXPECT_EQ(
      cells(
          "", "Pod",
          R"({"metadata":{"name":"p","deletionTimestamp":"2026-11-15T12:00:00Z"},"status":{"phase":"Running"}})"),
      R"(["p","0/0","Terminating","0","<unknown>","<none>","<none>","<none>","<none>"])");
}

// TB-3, TB-4, TB-6
TEST(Table, HasTheDefaultColumnsOfEachKind) {
  struct Row {
    const char* group;
    const char* kind;
    const char* columns;
  };
  for (const Row& row : {
           Row{"", "Pod", "Name, Ready, Status, Restarts, Age"},
           Row{"", "ConfigMap", "Name, Data, Age"},
           Row{"", "Secret", "Name, Type, Data, Age"},
           Row{"", "Namespace", "Name, Status, Age"},
           Row{"", "Service", "Name, Type, Cluster-IP, External-IP, Port(s), Age"},
           Row{"", "ServiceAccount", "Name, Age"},
           Row{"apps", "Deployment", "Name, Ready, Up-to-date, Available, Age"},
           Row{"apps", "ReplicaSet", "Name, Desired, Current, Ready, Age"},
           Row{"apps", "StatefulSet", "Name, Ready, Age"},
           Row{"apps", "DaemonSet",
               "Name, Desired, Current, Ready, Up-to-date, Available, Node Selector, Age"},
           Row{"batch", "Job", "Name, Status, Completions, Duration, Age"},
           Row{"batch", "CronJob", "Name, Schedule, Timezone, Suspend, Active, Last Schedule, Age"},
           Row{"", "Node", "Name, Status, Roles, Age, Version"},
           Row{"coordination.k8s.io", "Lease", "Name, Holder, Age"},
           Row{"", "Event", "Last Seen, Type, Reason, Object, Message"},
           Row{"", "Endpoints", "Name, Endpoints, Age"},
           Row{"discovery.k8s.io", "EndpointSlice", "Name, AddressType, Ports, Endpoints, Age"},
           Row{"policy", "PodDisruptionBudget",
               "Name, Min Available, Max Unavailable, Allowed Disruptions, Age"},
           Row{"autoscaling", "HorizontalPodAutoscaler",
               "Name, Reference, Targets, MinPods, MaxPods, Replicas, Age"},
           Row{"networking.k8s.io", "Ingress", "Name, Class, Hosts, Address, Ports, Age"},
           Row{"networking.k8s.io", "NetworkPolicy", "Name, Pod-Selector, Age"},
           Row{"", "PersistentVolume",
               "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, "
               "VolumeAttributesClass, Reason, Age"},
           Row{"", "PersistentVolumeClaim",
               "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, "
               "Age"},
           Row{"storage.k8s.io", "StorageClass",
               "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age"},
           Row{"rbac.authorization.k8s.io", "RoleBinding", "Name, Role, Age"},
           Row{"rbac.authorization.k8s.io", "ClusterRole", "Name, Created At"},
           Row{"rbac.authorization.k8s.io", "Role", "Name, Created At"},
           Row{"apiextensions.k8s.io", "CustomResourceDefinition", "Name, Created At"},
           Row{"", "LimitRange", "Name, Created At"},
       }) {
    const TablePrinter printer = TablePrinter::for_builtin(row.group, row.kind);
    EXPECT_EQ(names(printer), row.columns) << row.kind;
    int name_columns = 0;
    for (const Value& column : printer.columns().as_array()) {
      if (column["name"] == Value{"Name"}) {
        EXPECT_EQ(column["format"], Value{"name"});
        ++name_columns;
      }
      if (column["name"] == Value{"Age"}) {
        EXPECT_EQ(column["type"], Value{"string"});
      }
    }
    EXPECT_EQ(name_columns, 1) << row.kind;
    // An empty object has cells, too, as bookmarks need them (WT-25).
    EXPECT_EQ(printer.row(Value::object(), IncludeObject::kNone, kNow)["cells"].size(),
              printer.columns().size());
  }
}

// TB-6
TEST(Table, ShowsWorkloads) {
  EXPECT_EQ(cells("apps", "Deployment",
                  R"({"metadata":{"name":"d","creationTimestamp":"2026-11-15T11:50:00Z"},
      "spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[{"name":"x","image":"i"},{"name":"y","image":"j"}]}}},
      "status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":1}})"),
            R"(["d","2/3",3,1,"10m","x,y","i,j","a=b"])");
  EXPECT_EQ(cells("batch", "Job",
                  R"({"metadata":{"name":"j"},"spec":{"completions":2},"status":{"succeeded":2,
      "startTime":"2026-11-15T11:00:00Z","completionTime":"2026-11-15T11:01:05Z","conditions":[{"type":"Complete","status":"True"}]}})"),
            R"(["j","Complete","2/2","65s","<unknown>","","","<none>"])");
  EXPECT_EQ(
      cells(
          "policy", "PodDisruptionBudget",
          R"({"metadata":{"name":"b"},"spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":1}})"),
      R"(["b","50%","N/A",1,"<unknown>"])");
  EXPECT_EQ(
      cells("autoscaling", "HorizontalPodAutoscaler",
            R"({"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},
      "minReplicas":1,"maxReplicas":5,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}}]},
      "status":{"currentReplicas":2,"currentMetrics":[{"resource":{"current":{"averageUtilization":35}}}]}})"),
      R"(["h","Deployment/d","cpu: 35%/80%","1",5,2,"<unknown>"])");
}

// TB-6
TEST(Table, WritesSelectorsAsKubectlShowsThem) {
  EXPECT_EQ(cells("networking.k8s.io", "NetworkPolicy",
                  R"({"metadata":{"name":"n"},"spec":{"podSelector":{"matchLabels":{"b":"1"},
      "matchExpressions":[{"key":"a","operator":"In","values":["y","x"]},{"key":"c","operator":"Exists"},{"key":"d","operator":"DoesNotExist"}]}}})"),
            R"(["n","a in (x,y),b=1,c,!d","<unknown>"])");
}

// TB-6
TEST(Table, ShowsServicesAndEndpoints) {
  EXPECT_EQ(cells("", "Service",
                  R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","clusterIPs":["10.0.0.1"],
      "ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"selector":{"a":"b"}}})"),
            R"(["s","NodePort","10.0.0.1","<none>","80:30080/TCP,53/UDP","<unknown>","a=b"])");
  EXPECT_EQ(cells("", "Service",
                  R"({"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","ports":[]}})"),
            R"(["s","LoadBalancer","<none>","<pending>","<none>","<unknown>","<none>"])");
  EXPECT_EQ(
      cells(
          "", "Endpoints",
          R"({"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}],"ports":[{"port":80},{"port":443}]}]})"),
      R"(["e","10.0.0.1:80,10.0.0.2:80,10.0.0.1:443 + 1 more...","<unknown>"])");
  EXPECT_EQ(
      cells(
          "discovery.k8s.io", "EndpointSlice",
          R"({"metadata":{"name":"e"},"addressType":"IPv4","ports":[{"port":80}],"endpoints":[]})"),
      R"(["e","IPv4","80","<unset>","<unknown>"])");
}

// TB-6
TEST(Table, ShowsClusterKinds) {
  EXPECT_EQ(
      cells(
          "", "Node",
          R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/control-plane":""}},"spec":{"unschedulable":true},
      "status":{"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"kubeletVersion":"v1.36.4","kernelVersion":"6.1","architecture":"amd64"}}})"),
      R"x(["n","Ready,SchedulingDisabled","control-plane","<unknown>","v1.36.4","<none>","<none>","<unknown>","6.1 (amd64)","<unknown>"])x");
  EXPECT_EQ(
      cells(
          "", "Event",
          R"({"metadata":{"name":"e.1"},"type":"Normal","reason":"Started","message":" m \n","involvedObject":{"kind":"Pod","name":"p"},
      "lastTimestamp":"2026-11-15T11:59:00Z","firstTimestamp":"2026-11-15T11:00:00Z","count":4,"source":{"component":"kubelet","host":"n"}})"),
      R"(["60s","Normal","Started","pod/p","","kubelet, n","m","60m",4,"e.1"])");
  EXPECT_EQ(
      cells(
          "events.k8s.io", "Event",
          R"({"metadata":{"name":"e"},"type":"Normal","reason":"R","note":"m","regarding":{"kind":"Pod","name":"p"},
      "eventTime":"2026-11-15T11:59:55.000000Z","reportingController":"c"})"),
      R"(["5s","Normal","R","pod/p","","c","m","5s",1,"e"])");
  EXPECT_EQ(
      cells(
          "", "PersistentVolumeClaim",
          R"({"metadata":{"name":"c"},"spec":{"volumeName":"v","storageClassName":"fast","volumeMode":"Filesystem"},
      "status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]}})"),
      R"(["c","Bound","v","1Gi","RWO","fast","<unset>","<unknown>","Filesystem"])");
  EXPECT_EQ(cells("rbac.authorization.k8s.io", "RoleBinding",
                  R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},
      "subjects":[{"kind":"User","name":"u"},{"kind":"ServiceAccount","namespace":"n","name":"s"}]})"),
            R"(["b","Role/r","<unknown>","u","","n/s"])");
  EXPECT_EQ(cells("apiextensions.k8s.io", "CustomResourceDefinition",
                  R"({"metadata":{"name":"c","creationTimestamp":"2026-11-15T11:59:00Z"}})"),
            R"(["c","2026-11-15T11:59:00Z"])");
}

// TB-3
TEST(Table, ShowsCustomResourcesByTheirColumns) {
  EXPECT_EQ(names(TablePrinter::for_custom({})), "Name, Age");
  const TablePrinter printer = TablePrinter::for_custom(json(R"([
    {"name":"Deployment","type":"string","jsonPath":".spec.deploymentName"},
    {"name":"Replicas","type":"integer","jsonPath":".spec.replicas"},
    {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
    {"name":"On","type":"boolean","jsonPath":".spec.on"},
    {"name":"Load","type":"number","jsonPath":".status.load","priority":1,"description":"how busy"},
    {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}])"));
  EXPECT_EQ(names(printer), "Name, Deployment, Replicas, Ready, On, Age");
  EXPECT_EQ(text(printer.columns()[1]["description"]),
            R"("Custom resource definition column (in JSONPath format): .spec.deploymentName")");
  EXPECT_EQ(text(printer.columns()[5]["description"]), R"("how busy")");
  EXPECT_EQ(
      text(printer.row(json(R"({"metadata":{"name":"f","creationTimestamp":"2026-11-15T11:55:00Z"},
      "spec":{"deploymentName":"d","replicas":2,"on":true},"status":{"load":0.5,"conditions":[{"type":"X","status":"1"},{"type":"Ready","status":"True"}]}})"),
                       IncludeObject::kNone, kNow)),
      R"({"cells":["f","d",2,"True",true,0.5,"5m"],"object":null})");
  EXPECT_EQ(text(printer.row(json(R"({"metadata":{"name":"f"},"spec":{"replicas":"no"}})"),
                             IncludeObject::kNone, kNow)["cells"]),
            R"(["f",null,null,null,null,null,null])");
}

// TB-1, TB-2, TB-5
TEST(Table, CarriesObjectsAndListMetadata) {
  const Value object = json(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"a":"b"}},"data":{"k":"v"}})");
  const TablePrinter printer = TablePrinter::for_builtin("", "ConfigMap");
  EXPECT_EQ(
      text(printer.row(object, IncludeObject::kMetadata, kNow)["object"]),
      R"({"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"labels":{"a":"b"},"name":"c"}})");
  EXPECT_EQ(printer.row(object, IncludeObject::kObject, kNow)["object"], object);
  EXPECT_EQ(
      text(make_table(
          json(R"({"resourceVersion":"7","continue":"","remainingItemCount":3,"name":"x"})"),
          nullptr, Value::array())),
      R"({"apiVersion":"meta.k8s.io/v1","columnDefinitions":null,"kind":"Table","metadata":{"remainingItemCount":3,"resourceVersion":"7"},"rows":[]})");
}

TEST(Table, WritesDurationsForPeople) {
  for (const auto& [duration, expected] :
       std::initializer_list<std::pair<std::int64_t, const char*>>{
           {-2, "<invalid>"},     {-1, "0s"},           {0, "0s"},
           {119, "119s"},         {120, "2m"},          {125, "2m5s"},
           {599, "9m59s"},        {600, "10m"},         {10'799, "179m"},
           {10'800, "3h"},        {12'000, "3h20m"},    {28'800, "8h"},
           {172'799, "47h"},      {172'800, "2d"},      {273'600, "3d4h"},
           {691'200, "8d"},       {62'985'600, "729d"}, {63'072'000, "2y"},
           {65'664'000, "2y30d"}, {252'288'000, "8y"}}) {
    EXPECT_EQ(human_duration(seconds{duration}), expected) << duration;
  }
}

TEST(JsonPath, FindsTheFirstValue) {
  const Value root = json(R"({"a":{"b":[{"c":1},{"c":2}],"d.e/f":3},"l":[5,6]})");
  const auto first = [&](std::string_view path) {
    const Value* found = JsonPath{path}.first(root);
    return found == nullptr ? "none" : text(*found);
  };
  EXPECT_EQ(first(".a.b[1].c"), "2");
  EXPECT_EQ(first("{.a.b[0].c}"), "1");
  EXPECT_EQ(first("$.l[-1]"), "6");
  EXPECT_EQ(first(".a.b[*].c"), "1");
  EXPECT_EQ(first(".a['d.e/f']"), "3");
  EXPECT_EQ(first(".a.d\\.e/f"), "3");
  EXPECT_EQ(first(".a.b[?(@.c==2)].c"), "2");
  EXPECT_EQ(first(".a.b[?(@.c!=1)].c"), "2");
  EXPECT_EQ(first(".a.b[7]"), "none");
  EXPECT_EQ(first(".a.x.y"), "none");
  for (const char* bad : {"a", ".a[", ".a[x]", ".a[?(@.c)]", ".a['b"}) {
    EXPECT_THROW(JsonPath{bad}, std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace kube::testkit::detail
