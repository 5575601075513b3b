#!/usr/bin/python3
"""A driver for mrtq accept --implementation: jobs of the new queue in Python, on kazoo (docs/drivers.md).

It has the steps of a worker and of an administrator with jobs, in dialect design.

    mrtq accept --implementation 'python3 harness/drivers/kazoo_jobs.py' --dialect design
"""
import json
import queue
import sys
import threading
from datetime import datetime

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.security import OPEN_ACL_UNSAFE, make_acl

# The transitions of a job (docs/transitions.md): who makes each, and what a success leads to.
WORKER = {"pending": ["failed", "held", "estimating"], "estimating": ["provisioning"], "provisioning": ["downloading"],
          "downloading": ["processing", "failed"], "processing": ["recording", "failed"],
          "recording": ["notify", "failed"], "notify": ["completed", "failed"]}
ADMIN = {"held": ["pending", "deleted"], "failed": ["downloading", "processing", "recording", "notify", "deleted"]}
AUTOMATIC = {"completed": ["deleted"]}
CHAIN = ["pending", "estimating", "provisioning", "downloading", "processing", "recording", "notify", "completed"]
FOLDER = {"failed": "batch-failed", "completed": "batch-completed"}


class Refused(Exception):
    def __init__(self, kind, text="", **more):
        super().__init__(text or kind)
        self.answer = {"kind": kind, "text": text or kind, **more}


def illegal(job, to):
    allowed = [s for table in (WORKER, ADMIN, AUTOMATIC) for s in table.get(job.state, [])]
    raise Refused("state", f"{job.path} can't move from {job.state} to {to}", **{"from": job.state, "to": to, "allowed": allowed})


class Job:
    """A job as it is in ZooKeeper."""

    def __init__(self, zk, path):
        self.zk, self.path, self.id = zk, path, path.rsplit("/", 1)[1]
        try:
            data, self.stat = zk.get(path + "/status")
            self.priority = int(zk.get(path + "/priority")[0])
            self.batch = "/batches/" + zk.get(path + "/bid")[0].decode()
        except NoNodeError:
            raise Refused("none", path + " does not exist")
        self.status = json.loads(data)
        self.state = self.status["status"]

    def entry(self, state, priority):
        return f"/jobs/states/{state}/{priority:02d}-{self.id}"

    def in_batch(self, state):
        return f"{self.batch}/states/{FOLDER.get(state, 'batch-processing')}/{self.id}"

    def lock(self):
        return self.zk.exists(self.path + "/lock")


class Session:
    """One actor: a ZooKeeper session of its own."""

    def __init__(self, servers, auth, root):
        self.acl = [make_acl("auth", "", all=True)] if auth else OPEN_ACL_UNSAFE
        self.zk = KazooClient(servers + root, default_acl=self.acl, auth_data=[tuple(a.split(":", 1)) for a in auth])
        self.zk.start()

    def close(self):
        self.zk.stop()
        self.zk.close()

    def id(self):
        return self.zk.client_id[0]

    def acquire(self, r):
        if self.zk.exists("/locks/queue/ingest"):
            raise Refused("held")
        folder = "/jobs/states/" + r["from"]
        for entry in sorted(self.zk.get_children(folder) if self.zk.exists(folder) else []):
            path = "/jobs/" + entry.split("-", 1)[1]
            try:
                self.zk.create(path + "/lock", b"", ephemeral=True)
                job = Job(self.zk, path)
            except (NodeExistsError, NoNodeError, Refused):
                continue
            if job.state == r["from"] and job.entry(job.state, job.priority) == folder + "/" + entry:
                configuration = json.loads(self.zk.get(path + "/configuration")[0])
                found = {"item": path, "profile_name": configuration["profile_name"]}
                if self.zk.exists(path + "/identifiers"):
                    found["primary_id"] = json.loads(self.zk.get(path + "/identifiers")[0])["primary_id"]
                return found
            self.zk.delete(path + "/lock")  # the entry is left of an earlier step
        raise Refused("none")

    def mine(self, r):
        job = Job(self.zk, r["item"])
        lock = job.lock()
        if not lock or lock.owner_session_id != self.id():
            raise Refused("not-locked")
        return job

    def commit(self, change):
        for result in change.commit():
            if isinstance(result, KazooException) and type(result).__name__ not in ("RolledBackError", "RuntimeInconsistency"):
                raise Refused("conflict", repr(result))

    def write(self, change, job, docs):
        for name, doc in docs.items():
            data = json.dumps(doc).encode()
            if self.zk.exists(f"{job.path}/{name}"):
                change.set_data(f"{job.path}/{name}", data)
            else:
                change.create(f"{job.path}/{name}", data, acl=self.acl)

    def step(self, r, job, to, message="", success=False, retry=False):
        docs = dict(r.get("docs") or {})
        priority = docs.get("priority", job.priority)
        if not 0 <= priority <= 99:
            raise Refused("priority")
        status = {k: v for k, v in job.status.items() if k != "message"}
        status.update(status=to, last_modification_date=r["now"])
        if message:
            status["message"] = message
        if success and job.state != "pending":
            status["last_successful_status"] = job.state
        if retry:
            status["retry_count"] += 1
        change = self.zk.transaction()
        change.set_data(job.path + "/status", json.dumps(status).encode(), version=job.stat.version)
        self.zk.ensure_path("/jobs/states/" + to)
        change.delete(job.entry(job.state, job.priority))
        change.create(job.entry(to, priority), b"", acl=self.acl)
        if job.in_batch(job.state) != job.in_batch(to):
            self.zk.ensure_path(job.in_batch(to).rsplit("/", 1)[0])
            change.delete(job.in_batch(job.state))
            change.create(job.in_batch(to), b"", acl=self.acl)
        self.write(change, job, docs)
        if job.lock():
            change.delete(job.path + "/lock")
        self.commit(change)

    def do(self, r):
        verb = r["verb"]
        if r.get("what") != "job" or verb not in ("acquire", "unlock", "set", "succeed", "fail", "hold", "move", "admin-move", "resume", "set-priority"):
            raise Refused("unsupported", f"{verb} {r.get('what')}")
        if verb == "acquire":
            return self.acquire(r)
        if verb in ("admin-move", "resume", "set-priority"):
            return self.administer(r)
        job = self.mine(r)
        message = r.get("message", "")
        if verb == "unlock":
            self.zk.delete(job.path + "/lock")
        elif verb == "set":
            change = self.zk.transaction()
            self.write(change, job, r["docs"])
            self.commit(change)
        elif verb == "succeed":
            after = CHAIN[CHAIN.index(job.state) + 1] if job.state in CHAIN[:-1] else "completed"
            self.legal(WORKER, job, after)
            self.step(r, job, after, success=True)
        else:
            to = {"fail": "failed", "hold": "held"}.get(verb) or r["to"]
            self.legal(WORKER, job, to)
            self.step(r, job, to, message, success=to not in ("failed", "held"))
        return {}

    def legal(self, table, job, to):
        if to not in table.get(job.state, []):
            illegal(job, to)

    def administer(self, r):
        job = Job(self.zk, r["item"])
        to, last = r.get("to", ""), job.status.get("last_successful_status")
        if r["verb"] == "admin-move" and to in WORKER.get(job.state, []):
            raise Refused("not-locked", "this step is a worker's")
        if job.lock():
            raise Refused("locked")
        if r["verb"] == "set-priority":
            self.set_priority(r, job)
            return {}
        if r["verb"] == "resume":
            to = CHAIN[CHAIN.index(last) + 1] if last in CHAIN[1:-2] else "downloading"
        if r.get("from", job.state) != job.state:
            illegal(job, to)
        self.legal(ADMIN, job, to)
        if job.state == "failed" and last not in CHAIN[1:-2]:
            raise Refused("not-resumable", "no step of it has succeeded yet")
        if to == "deleted":
            raise Refused("unsupported", "a deletion")
        self.step(r, job, to, retry=job.state == "failed")
        return {}

    def set_priority(self, r, job):
        to = r["docs"]["priority"]
        if not 0 <= to <= 99:
            raise Refused("priority")
        change = self.zk.transaction()
        change.set_data(job.path + "/priority", str(to).encode())
        if to != job.priority:
            change.delete(job.entry(job.state, job.priority))
            change.create(job.entry(job.state, to), b"", acl=self.acl)
        self.commit(change)


def answer(n, **fields):
    with writing:
        print(json.dumps({"n": n, **fields}), flush=True)


def serve(requests):
    """Does the requests of one session, one after the other."""
    session = None
    for r in iter(requests.get, None):
        try:
            if r["verb"] == "open":
                session = Session(hello["servers"], hello.get("auth", []), r["root"])
                answer(r["n"], zk_session=hex(session.id()))
            elif r["verb"] == "close":
                session.close()
                answer(r["n"])
            else:
                if "now" in r:
                    r["now"] = datetime.fromisoformat(r["now"]).isoformat(timespec="seconds")
                answer(r["n"], **session.do(r))
        except Refused as why:
            answer(r["n"], refused=why.answer)
        except Exception as why:  # one act, not the driver, has failed
            answer(r["n"], refused={"kind": "other", "text": repr(why)})


writing = threading.Lock()
hello = {}
sessions = {}
for line in sys.stdin:
    r = json.loads(line)
    if r["verb"] == "hello":
        hello = r
        answer(r["n"], implementation="kazoo jobs 1", protocol=1, dialects=["design"], clock=True, strict=True)
        continue
    if r["session"] not in sessions:
        sessions[r["session"]] = queue.Queue()
        threading.Thread(target=serve, args=(sessions[r["session"]],), daemon=True).start()
    sessions[r["session"]].put(r)
