// SPDX-License-Identifier: Apache-2.0

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** A custom resource. */
@Group("fabric8.foreign.example.com")
@Version("v1")
public class Lamp extends CustomResource<Lamp.Spec, Lamp.Status> implements Namespaced {
  /** What is wanted. */
  public static class Spec {
    public Integer watts;
    public String color;
  }

  /** What there is. */
  public static class Status {
    public Boolean lit;
  }

  static Lamp of(String name, int watts) {
    Lamp lamp = new Lamp();
    lamp.getMetadata().setName(name);
    lamp.setSpec(new Spec());
    lamp.getSpec().watts = watts;
    return lamp;
  }
}
