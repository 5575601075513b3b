import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;
import org.apache.zookeeper.recipes.lock.WriteLock;
import org.apache.zookeeper.recipes.queue.DistributedQueue;

/**
 * ZooKeeper's own Java client and the recipes that come with it, against the server at args[0].
 * Prints one "ok name" for each part; anything else is a failure.
 */
public class JavaClient {
    static final long WAIT = 20;
    static String hosts;

    interface Part { void run(ZooKeeper z) throws Exception; }

    static ZooKeeper connect() throws Exception {
        CountDownLatch up = new CountDownLatch(1);
        ZooKeeper z = new ZooKeeper(hosts, 10000, e -> {
            if (e.getState() == Watcher.Event.KeeperState.SyncConnected) {
                up.countDown();
            }
        });
        check(up.await(WAIT, TimeUnit.SECONDS), "connected");
        return z;
    }

    static void check(boolean ok, Object what) {
        if (!ok) {
            throw new AssertionError(what);
        }
    }

    interface Body { void run() throws Exception; }

    static void fails(KeeperException.Code code, Body b) throws Exception {
        try {
            b.run();
        } catch (KeeperException e) {
            check(e.code() == code, e.code() + ", want " + code);
            return;
        }
        throw new AssertionError("no " + code);
    }

    static byte[] b(String s) { return s.getBytes(StandardCharsets.UTF_8); }

    static final List<ACL> OPEN = ZooDefs.Ids.OPEN_ACL_UNSAFE;

    static void basics(ZooKeeper z) throws Exception {
        check(z.create("/j", b("one"), OPEN, CreateMode.PERSISTENT).equals("/j"), "create");
        fails(KeeperException.Code.NODEEXISTS, () -> z.create("/j", null, OPEN, CreateMode.PERSISTENT));
        Stat s = new Stat();
        check(Arrays.equals(z.getData("/j", false, s), b("one")) && s.getVersion() == 0, s);
        check(z.setData("/j", null, 0).getVersion() == 1, "set");
        check(z.getData("/j", false, s) == null, "null data");
        fails(KeeperException.Code.BADVERSION, () -> z.setData("/j", null, 0));
        check(z.create("/j/s-", null, OPEN, CreateMode.EPHEMERAL_SEQUENTIAL).equals("/j/s-0000000000"), "sequence");
        check(z.create("/j/c", null, OPEN, CreateMode.CONTAINER, s).equals("/j/c"), "container");
        check(z.create("/j/t", null, OPEN, CreateMode.PERSISTENT_WITH_TTL, s, 100000).equals("/j/t"), "ttl");
        fails(KeeperException.Code.NOCHILDRENFOREPHEMERALS, () -> z.create("/j/s-0000000000/x", null, OPEN, CreateMode.PERSISTENT));
        check(z.getChildren("/j", false, s).size() == 3 && s.getNumChildren() == 3, s);
        check(z.getAllChildrenNumber("/j") == 3, "all children");
        check(z.getEphemerals().equals(Collections.singletonList("/j/s-0000000000")), z.getEphemerals());
        fails(KeeperException.Code.NOTEMPTY, () -> z.delete("/j", -1));
        check(z.exists("/nope", false) == null, "exists");
        check(z.whoAmI().size() == 1, z.whoAmI());
        check(new String(z.getConfig(false, s), StandardCharsets.UTF_8).isEmpty(), "config");
        CountDownLatch synced = new CountDownLatch(1);
        z.sync("/", (rc, path, ctx) -> synced.countDown(), null);
        check(synced.await(WAIT, TimeUnit.SECONDS), "sync");
    }

    static void acls(ZooKeeper z) throws Exception {
        z.addAuthInfo("digest", b("u:p"));
        z.create("/jacl", b("x"), ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        ZooKeeper other = connect();
        fails(KeeperException.Code.NOAUTH, () -> other.getData("/jacl", false, null));
        fails(KeeperException.Code.NOAUTH, () -> other.getACL("/jacl", null));
        fails(KeeperException.Code.INVALIDACL, () -> other.create("/bad", null, ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT));
        other.addAuthInfo("digest", b("u:p"));
        other.getData("/jacl", false, null);
        Stat s = other.setACL("/jacl", Collections.singletonList(new ACL(31, new Id("ip", "127.0.0.1"))), 0);
        check(s.getAversion() == 1, s);
        other.close();
    }

    static void multis(ZooKeeper z) throws Exception {
        List<OpResult> r = z.multi(Arrays.asList(Op.create("/jm", b("1"), OPEN, CreateMode.PERSISTENT), Op.setData("/jm", b("2"), 0),
            Op.check("/jm", 1), Op.create("/jm/c", null, OPEN, CreateMode.CONTAINER), Op.delete("/jm/c", -1)));
        check(r.size() == 5 && ((OpResult.SetDataResult) r.get(1)).getStat().getVersion() == 1, r);
        try {
            z.multi(Arrays.asList(Op.delete("/jm", -1), Op.check("/nope", -1), Op.delete("/jm", -1)));
            throw new AssertionError("no failure");
        } catch (KeeperException e) {
            check(e.code() == KeeperException.Code.NONODE, e);
            int[] codes = e.getResults().stream().mapToInt(o -> ((OpResult.ErrorResult) o).getErr()).toArray();
            check(Arrays.equals(codes, new int[] {0, -101, -2}), Arrays.toString(codes));
        }
        r = z.multi(Arrays.asList(Op.getData("/jm"), Op.getChildren("/"), Op.getData("/nope")));
        check(Arrays.equals(((OpResult.GetDataResult) r.get(0)).getData(), b("2")), "read");
        check(((OpResult.ErrorResult) r.get(2)).getErr() == -101, "read of nothing");
    }

    static void expect(BlockingQueue<WatchedEvent> q, Watcher.Event.EventType type, String path) throws Exception {
        WatchedEvent e = q.poll(WAIT, TimeUnit.SECONDS);
        check(e != null && e.getType() == type && path.equals(e.getPath()), e + ", want " + type + " " + path);
    }

    static void watches(ZooKeeper z) throws Exception {
        ZooKeeper other = connect();
        BlockingQueue<WatchedEvent> once = new LinkedBlockingQueue<>(), rec = new LinkedBlockingQueue<>(), per = new LinkedBlockingQueue<>();
        z.exists("/jw", once::add);
        z.addWatch("/jw", rec::add, AddWatchMode.PERSISTENT_RECURSIVE);
        z.addWatch("/jp", per::add, AddWatchMode.PERSISTENT);
        other.create("/jp", null, OPEN, CreateMode.PERSISTENT);
        other.create("/jp/k", null, OPEN, CreateMode.PERSISTENT);
        expect(per, Watcher.Event.EventType.NodeCreated, "/jp");
        expect(per, Watcher.Event.EventType.NodeChildrenChanged, "/jp");
        other.create("/jw", null, OPEN, CreateMode.PERSISTENT);
        other.create("/jw/a", null, OPEN, CreateMode.PERSISTENT);
        other.setData("/jw/a", null, -1);
        other.delete("/jw/a", -1);
        expect(rec, Watcher.Event.EventType.NodeCreated, "/jw");
        expect(rec, Watcher.Event.EventType.NodeCreated, "/jw/a");
        expect(rec, Watcher.Event.EventType.NodeDataChanged, "/jw/a");
        expect(rec, Watcher.Event.EventType.NodeDeleted, "/jw/a");
        z.removeAllWatches("/jw", Watcher.WatcherType.Any, false);
        expect(rec, Watcher.Event.EventType.PersistentWatchRemoved, "/jw");
        fails(KeeperException.Code.NOWATCHER, () -> z.removeAllWatches("/jw", Watcher.WatcherType.Any, false));
        other.close();
    }

    /**
     * Many sessions, one lock: no two are inside. Each session takes it once and ends, as in the
     * recipe's own test: after unlock a late watch may make the recipe ask for the lock again.
     */
    static void locks(ZooKeeper z) throws Exception {
        AtomicInteger inside = new AtomicInteger(), total = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        List<Throwable> bad = Collections.synchronizedList(new ArrayList<>());
        z.create("/jlock", null, OPEN, CreateMode.PERSISTENT);
        for (int i = 0; i < 4; i++) {
            Thread t = new Thread(() -> {
                try {
                    for (int k = 0; k < 5; k++) {
                        ZooKeeper c = connect();
                        takeOnce(c, inside);
                        total.incrementAndGet();
                        c.close();
                    }
                } catch (Throwable e) {
                    bad.add(e);
                }
            });
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join();
        }
        check(bad.isEmpty() && total.get() == 20, bad);
    }

    static void takeOnce(ZooKeeper c, AtomicInteger inside) throws Exception {
        CountDownLatch got = new CountDownLatch(1);
        WriteLock l = new WriteLock(c, "/jlock", OPEN, new org.apache.zookeeper.recipes.lock.LockListener() {
            public void lockAcquired() { got.countDown(); }
            public void lockReleased() { }
        });
        // The recipe gives up if the node before its own disappears while the recipe looks for it
        // ("Could not find the stats for less than me"). Then it must be called again.
        int asked = 0;
        do {
            l.lock();
            check(asked++ < WAIT, "lock");
        } while (!got.await(1, TimeUnit.SECONDS));
        check(inside.incrementAndGet() == 1, "two inside");
        inside.decrementAndGet();
        l.unlock();
    }

    static void queues(ZooKeeper z) throws Exception {
        DistributedQueue q = new DistributedQueue(z, "/jqueue", null);
        for (int i = 0; i < 5; i++) {
            q.offer(b("" + i));
        }
        ZooKeeper other = connect();
        DistributedQueue r = new DistributedQueue(other, "/jqueue", null);
        for (int i = 0; i < 5; i++) {
            check(Arrays.equals(r.take(), b("" + i)), "order");
        }
        Thread t = new Thread(() -> {
            try {
                q.offer(b("late"));
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        t.start();
        check(Arrays.equals(r.take(), b("late")), "late");
        t.join();
        other.close();
    }

    static void elections(ZooKeeper z) throws Exception {
        z.create("/jelect", null, OPEN, CreateMode.PERSISTENT);
        ZooKeeper other = connect();
        CountDownLatch two = new CountDownLatch(1);
        LeaderElectionSupport a = new LeaderElectionSupport(), b = new LeaderElectionSupport();
        for (LeaderElectionSupport s : new LeaderElectionSupport[] {a, b}) {
            s.setRootNodeName("/jelect");
            s.setHostName(s == a ? "one" : "two");
            s.setZooKeeper(s == a ? z : other);
        }
        b.addListener(e -> {
            if (e == LeaderElectionSupport.EventType.ELECTED_COMPLETE) {
                two.countDown();
            }
        });
        a.start();
        b.start();
        check(b.getLeaderHostName().equals("one"), b.getLeaderHostName());
        a.stop();
        check(two.await(WAIT, TimeUnit.SECONDS), "the second leads");
        b.stop();
        other.close();
    }

    public static void main(String[] args) throws Exception {
        hosts = args[0];
        ZooKeeper z = connect();
        String[] names = {"basics", "acls", "multis", "watches", "locks", "queues", "elections"};
        Part[] parts = {JavaClient::basics, JavaClient::acls, JavaClient::multis, JavaClient::watches, JavaClient::locks, JavaClient::queues, JavaClient::elections};
        for (int i = 0; i < parts.length; i++) {
            parts[i].run(z);
            System.out.println("ok " + names[i]);
        }
        z.close();
    }
}
