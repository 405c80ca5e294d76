#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pods.py valid SCHEMAS FILE...   validates manifests: prints the errors, or
#                                 nothing
# pods.py get FILE PATH           prints a value: spec.template.spec
# pods.py ARGUMENTS of kubectl    does what kubectl would do, with processes of
#                                 this host instead of pods: create, wait, logs
#
# The processes run in the folder $PODS; each has the arguments and variables of
# its pod. Only the times and sizes of the load differ, the driver is null, and
# the launcher of MPI starts all ranks on this host. Ranks without MPI start at
# once: how long they take to connect depends on the speed of the host.
import json
import os
import re
import subprocess
import sys

import yaml

# The one in C, if it is there, is ten times faster.
loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# Schemas ---------------------------------------------------------------------


def closed(schema):
    """Kubernetes drops fields that are not in a schema; here they are errors."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: closed(v) for k, v in schema.items()}
    if isinstance(out.get("properties"), dict) and out.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


def valid(schemas, files):
    from jsonschema import Draft7Validator

    with open(schemas + "/kubernetes.json") as f:
        kubernetes = json.load(f)
    with open(schemas + "/mpijob.yaml") as f:
        definition = yaml.load(f, Loader=loader)
    found = {}
    for kind, name in (("Job", "batch.v1.Job"), ("CronJob", "batch.v1.CronJob"),
                       ("Pod", "core.v1.PodTemplateSpec")):
        found[kind] = dict(kubernetes, **{"$ref": "#/$defs/io.k8s.api." + name})
        found[kind].pop("$id", None)
    for version in definition["spec"]["versions"]:
        if version["name"] == "v2beta1":
            schema = closed(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {
                "$ref": "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
            found["MPIJob"] = dict(schema, **{"$defs": kubernetes["$defs"]})
    errors = 0

    def check(kind, value, where):
        nonlocal errors
        for error in Draft7Validator(found[kind]).iter_errors(value):
            path = "/".join(str(p) for p in error.absolute_path)
            print("%s: %s: %s" % (where, path, error.message[:300]))
            errors += 1

    for name in files:
        manifest = load(name)
        kind = manifest["kind"]
        check(kind, manifest, name)
        api = {"Job": "batch/v1", "CronJob": "batch/v1",
               "MPIJob": "kubeflow.org/v2beta1"}[kind]
        if manifest["apiVersion"] != api:
            print("%s: apiVersion is not %s" % (name, api))
            errors += 1
        for role, replica in manifest["spec"].get("mpiReplicaSpecs", {}).items():
            check("Pod", replica["template"], name + ": " + role)
    return 1 if errors else 0


def load(name):
    with open(name) as f:
        return yaml.safe_load(f)


def get(name, path):
    value = load(name)
    try:
        for key in path.split("."):
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (KeyError, IndexError, TypeError):
        print("%s: no %s" % (name, path))
        return 1
    print(value if isinstance(value, (str, int)) else json.dumps(value, sort_keys=True))
    return 0


# kubectl ---------------------------------------------------------------------


def smaller(text, folder):
    for old, new in (("/tmp/", folder + "/"),
                     ("/etc/mpi/hostfile", folder + "/hostfile"),
                     ("--table-size=1M", "--table-size=100"),
                     ("--warmup-time=10", "--warmup-time=0"),
                     ("--time=60", "--time=1"),
                     ("--rate=20000", "--rate=1000"),
                     ("--threads=256", "--threads=16")):
        text = text.replace(old, new)
    return text


def start(container, folder, extra):
    os.makedirs(folder, exist_ok=True)
    pod = dict(extra)
    for variable in container.get("env", []):
        secret = variable.get("valueFrom", {}).get("secretKeyRef")
        pod[variable["name"]] = "of-" + secret["name"] if secret else variable["value"]
    argv = [smaller(re.sub(r"\$\(([A-Za-z_]\w*)\)",
                           lambda m: pod.get(m.group(1), m.group(0)), word), folder)
            for word in container["command"] + container.get("args", [])
            if not word.startswith("--start-at=")]
    with open(folder + "/log", "w") as log:
        return subprocess.Popen(
            argv, cwd=folder, env=dict(os.environ, **dict(pod, SYSBENCH_DB_DRIVER="null")),
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)


def create(manifest):
    spec = manifest["spec"]
    name = manifest["metadata"]["name"]
    folders = {}
    if manifest["kind"] == "Job":
        container = spec["template"]["spec"]["containers"][0]
        for i in range(spec["completions"]):
            folder = "%s/%s-%d" % (pods, name, i)
            folders[folder] = start(container, folder, {"JOB_COMPLETION_INDEX": str(i)})
    else:
        roles = spec["mpiReplicaSpecs"]
        ranks = roles["Worker"]["replicas"] + (1 if spec["runLauncherAsWorker"] else 0)
        folder = "%s/%s-launcher" % (pods, name)
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/hostfile", "w") as f:
            f.write("localhost slots=%d\n" % (ranks * spec["slotsPerWorker"]))
        folders[folder] = start(
            roles["Launcher"]["template"]["spec"]["containers"][0], folder, {})
    worst = max([p.wait() for p in folders.values()])
    with open("%s/%s.status" % (pods, name), "w") as f:
        f.write(str(worst))
    return 0


def status(name):
    with open("%s/%s.status" % (pods, name.split("/")[1])) as f:
        return 0 if f.read() == "0" else 1


def logs(args):
    where = args[-1].split("/")[-1]
    if "-l" in args:
        label = dict(pair.split("=") for pair in args[-1].split(","))
        where = label["job-name"] + "-" + label["batch.kubernetes.io/job-completion-index"]
    with open("%s/%s/log" % (pods, where)) as f:
        sys.stdout.write(f.read())
    return 0


def main(args):
    what, rest = args[0], args[1:]
    if what == "valid":
        return valid(rest[0], rest[1:])
    if what == "get":
        return get(*rest)
    if what == "create" and rest[0] == "secret":
        return 0
    if what == "create":
        return create(yaml.safe_load(sys.stdin) if rest[-1] == "-" else load(rest[-1]))
    if what == "wait":
        return status(rest[-1])
    return logs(rest)


pods = os.environ.get("PODS", ".")
sys.exit(main(sys.argv[1:]))
