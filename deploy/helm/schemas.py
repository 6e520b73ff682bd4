"""Writes the JSON Schemas of the Kubernetes kinds that the chart has, strict, so that kubeconform needs no network.

    python3 deploy/helm/schemas.py "$(go mod download -json k8s.io/kubernetes@v1.33.3 | jq -r .Dir)"

The module has Kubernetes' own OpenAPI document.
"""

import json
import pathlib
import sys

KINDS = {
    "deployment-apps-v1": "io.k8s.api.apps.v1.Deployment",
    "horizontalpodautoscaler-autoscaling-v2": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
    "ingress-networking-v1": "io.k8s.api.networking.v1.Ingress",
    "networkpolicy-networking-v1": "io.k8s.api.networking.v1.NetworkPolicy",
    "poddisruptionbudget-policy-v1": "io.k8s.api.policy.v1.PodDisruptionBudget",
    "service-v1": "io.k8s.api.core.v1.Service",
    "serviceaccount-v1": "io.k8s.api.core.v1.ServiceAccount",
}
# Kubernetes' own types that JSON writes in two ways.
EITHER = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer"]},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"]},
}


def strict(node, definitions):
    """The node with all references put in, where only known fields may stand, and without prose."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return EITHER.get(name) or strict(definitions[name], definitions)
    kept = {k: v for k, v in node.items() if k in ("type", "required", "enum")}
    if "items" in node:
        kept["items"] = strict(node["items"], definitions)
    if "additionalProperties" in node:
        kept["additionalProperties"] = strict(node["additionalProperties"], definitions)
    if "properties" in node:
        kept["properties"] = {k: strict(v, definitions) for k, v in node["properties"].items()}
        kept["additionalProperties"] = False
    return kept


def main(module):
    document = json.loads((pathlib.Path(module) / "api/openapi-spec/swagger.json").read_text())
    here = pathlib.Path(__file__).parent / "schemas"
    for file, name in KINDS.items():
        schema = strict({"$ref": "#/definitions/" + name}, document["definitions"])
        (here / (file + ".json")).write_text(json.dumps(schema, separators=(",", ":"), sort_keys=True) + "\n")


main(sys.argv[1])
