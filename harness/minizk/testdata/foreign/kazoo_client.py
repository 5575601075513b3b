"""Checks kazoo and its recipes on the server at argv[1].

Prints "ok <name>" for each part that passes. Anything else is a failure.
"""
import datetime
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import (BadVersionError, InvalidACLError, NoAuthError, NodeExistsError, NoNodeError,
                              NotEmptyError, RolledBackError, RuntimeInconsistency)
from kazoo.recipe.partitioner import PartitionState
from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, make_acl, make_digest_acl, make_digest_acl_credential

HOSTS = sys.argv[1]
WAIT = 20


def client(**kw):
    c = KazooClient(hosts=HOSTS, timeout=10, **kw)
    c.start(timeout=WAIT)
    return c


def raises(kind, f, *a, **kw):
    try:
        f(*a, **kw)
    except kind:
        return
    raise AssertionError("%s did not raise %s" % (f, kind))


def basics(z):
    assert z.create("/k", b"one") == "/k"
    raises(NodeExistsError, z.create, "/k")
    data, stat = z.get("/k")
    assert (data, stat.version, stat.dataLength) == (b"one", 0, 3), stat
    assert z.set("/k", b"two").version == 1
    raises(BadVersionError, z.set, "/k", b"x", version=0)
    z.ensure_path("/k/a/b/c")
    assert z.get_children("/k") == ["a"]
    kids, stat = z.get_children("/k", include_data=True)
    assert stat.numChildren == 1
    raises(NotEmptyError, z.delete, "/k/a")
    z.delete("/k/a", recursive=True)
    raises(NoNodeError, z.get, "/k/a")
    assert z.exists("/nope") is None
    assert z.create("/k/s-", sequence=True) == "/k/s-0000000001"
    path, stat = z.create("/k/c2", b"", include_data=True)
    assert path == "/k/c2" and stat.version == 0
    assert z.sync("/k") == "/k"


def acls(z):
    acl = make_digest_acl("u", "p", all=True)
    z.create("/acl", b"", acl=[acl])
    raises(NoAuthError, z.get, "/acl")
    assert z.add_auth("digest", "u:p")
    z.get("/acl")
    got, stat = z.get_acls("/acl")
    assert got == [acl], got
    assert z.set_acls("/acl", OPEN_ACL_UNSAFE).aversion == 1
    # The list that means the creator has an empty id, which kazoo sends as null.
    z.create("/acl/mine", b"", acl=CREATOR_ALL_ACL)
    user, secret = make_digest_acl_credential("u", "p").split(":")
    assert z.get_acls("/acl/mine")[0] == [make_acl("digest", user + ":" + secret, all=True)]
    t = z.transaction()
    t.create("/acl/mine/kid", b"", acl=CREATOR_ALL_ACL)
    assert t.commit() == ["/acl/mine/kid"]
    stranger = client()
    raises(NoAuthError, stranger.get, "/acl/mine")
    raises(InvalidACLError, stranger.create, "/acl/theirs", b"", acl=CREATOR_ALL_ACL)
    raises(InvalidACLError, stranger.set_acls, "/acl", CREATOR_ALL_ACL)
    stranger.stop()
    stranger.close()
    # kazoo would replace an empty list by its default. It sends a list that no client meets.
    raises(InvalidACLError, z.create, "/acl/x", b"", acl=[make_acl("nosuchscheme", "x", all=True)])


def transactions(z):
    t = z.transaction()
    t.create("/tx", b"1")
    t.set_data("/tx", b"2")
    t.check("/tx", version=1)
    t.create("/tx/s-", sequence=True)
    assert t.commit()[0] == "/tx"
    t = z.transaction()
    t.delete("/tx/nope")
    t.create("/tx/never")
    r = t.commit()
    assert isinstance(r[0], NoNodeError) and isinstance(r[1], RuntimeInconsistency), r
    t = z.transaction()
    t.create("/tx/never")
    t.check("/tx", version=99)
    r = t.commit()
    assert isinstance(r[0], RolledBackError) and isinstance(r[1], BadVersionError), r
    assert z.exists("/tx/never") is None


def watches(z):
    z2 = client()
    seen, cond = [], threading.Condition()

    def saw(what):
        with cond:
            seen.append(what)
            cond.notify_all()

    def until(what):
        with cond:
            assert cond.wait_for(lambda: what in seen, WAIT), (what, seen)

    z.ensure_path("/w")
    z.DataWatch("/w", lambda data, stat: saw(("data", data)))
    z.ChildrenWatch("/w", lambda kids: saw(("kids", sorted(kids))))
    z2.set("/w", b"1")
    until(("data", b"1"))
    z2.create("/w/a")
    until(("kids", ["a"]))
    z2.create("/w/b", ephemeral=True)
    until(("kids", ["a", "b"]))
    z2.stop()
    z2.close()
    until(("kids", ["a"]))


def locks(z):
    others = [client() for _ in range(4)]
    inside, order = [], []

    def work(c, i):
        for _ in range(5):
            with c.Lock("/lock", str(i)):
                inside.append(i)
                assert len(inside) == 1
                order.append(i)
                inside.pop()

    threads = [threading.Thread(target=work, args=(c, i)) for i, c in enumerate(others)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(WAIT)
    assert len(order) == 20, order
    lock = others[0].Lock("/lock", "holder")
    assert lock.acquire(timeout=WAIT)
    assert not others[1].Lock("/lock", "other").acquire(blocking=False)
    assert lock.contenders() == ["holder"]
    others[0].stop()  # its lock ends with its session
    assert others[1].Lock("/lock", "other").acquire(timeout=WAIT)
    r1, r2 = others[1].ReadLock("/rw"), others[2].ReadLock("/rw")
    assert r1.acquire(timeout=WAIT) and r2.acquire(timeout=WAIT)
    assert not others[3].WriteLock("/rw").acquire(blocking=False)
    sem = [c.Semaphore("/sem", max_leases=2) for c in others[1:]]
    assert sem[0].acquire(timeout=WAIT) and sem[1].acquire(timeout=WAIT) and not sem[2].acquire(blocking=False)
    sem[0].release()
    assert sem[2].acquire(timeout=WAIT)
    for c in others[1:]:
        c.stop()
    for c in others:
        c.close()


def queues(z):
    q = z.Queue("/queue")
    for i in range(5):
        q.put(b"%d" % i)
    q.put(b"first", priority=1)
    assert len(q) == 6
    assert [q.get() for _ in range(7)] == [b"first", b"0", b"1", b"2", b"3", b"4", None]
    lq = z.LockingQueue("/lqueue")
    lq.put_all([b"a", b"b"])
    assert lq.get(timeout=WAIT) == b"a" and lq.holds_lock() and lq.consume()
    assert lq.get(timeout=WAIT) == b"b"
    lq.release()
    assert lq.get(timeout=WAIT) == b"b" and lq.consume()


def elections(z):
    other = client()
    led, done = [], threading.Event()
    e1, e2 = z.Election("/election", "one"), other.Election("/election", "two")

    def lead(name, then):
        led.append(name)
        then()

    t = threading.Thread(target=e1.run, args=(lead, "one", lambda: done.wait(WAIT)))
    t.start()
    deadline = time.time() + WAIT
    while not led and time.time() < deadline:
        time.sleep(0.01)
    t2 = threading.Thread(target=e2.run, args=(lead, "two", lambda: None))
    t2.start()
    while len(e2.contenders()) < 2 and time.time() < deadline:
        time.sleep(0.01)
    assert e2.contenders() == ["one", "two"] and led == ["one"], (e2.contenders(), led)
    done.set()
    t.join(WAIT)
    t2.join(WAIT)
    assert led == ["one", "two"], led
    other.stop()
    other.close()


def counters(z):
    others = [client() for _ in range(3)]

    def add(c):
        for _ in range(10):
            counter = c.Counter("/counter")
            counter += 2

    threads = [threading.Thread(target=add, args=(c,)) for c in others]
    for t in threads:
        t.start()
    for t in threads:
        t.join(WAIT)
    assert z.Counter("/counter").value == 60
    for c in others:
        c.stop()
        c.close()


def barriers(z):
    b = z.Barrier("/barrier")
    b.create()
    passed = threading.Event()
    other = client()
    t = threading.Thread(target=lambda: other.Barrier("/barrier").wait(WAIT) and passed.set())
    t.start()
    assert not passed.wait(0.2)
    b.remove()
    t.join(WAIT)
    assert passed.is_set()
    steps = []

    def both(c):
        d = c.DoubleBarrier("/double", 2)
        d.enter()
        steps.append("in")
        d.leave()
        steps.append("out")

    threads = [threading.Thread(target=both, args=(c,)) for c in (z, other)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(WAIT)
    assert sorted(steps) == ["in", "in", "out", "out"], steps
    other.stop()
    other.close()


def parties(z):
    other = client()
    p, q = z.Party("/party", "one"), other.Party("/party", "two")
    p.join()
    q.join()
    assert sorted(p) == ["one", "two"] and len(p) == 2
    q.leave()
    assert list(p) == ["one"]
    sp = z.SetPartitioner("/partition", set=("a", "b"), time_boundary=0.2)
    deadline = time.time() + WAIT
    while sp.state != PartitionState.ACQUIRED and time.time() < deadline:
        time.sleep(0.05)
    assert sorted(sp) == ["a", "b"], sp.state
    sp.finish()
    minute = datetime.timedelta(minutes=1)
    assert z.NonBlockingLease("/lease", minute, identifier="one")
    assert not other.NonBlockingLease("/lease", minute, identifier="two")
    other.stop()
    other.close()


def words(z):
    assert z.server_version() == (3, 8, 0), z.server_version()
    assert b"imok" == z.command(b"ruok").encode()
    assert "Mode: standalone" in z.command(b"stat")


def restarts(z):
    z.create("/mine", ephemeral=True)
    z.restart()
    assert z.exists("/mine") is None
    assert z.state == KazooState.CONNECTED


z = client()
for part in (basics, acls, transactions, watches, locks, queues, elections, counters, barriers, parties, words, restarts):
    part(z)
    print("ok", part.__name__, flush=True)
z.stop()
z.close()
