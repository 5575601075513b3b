import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.cdlib.mrt.zk.*;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * A driver for mrtq accept --implementation (docs/drivers.md): org.cdlib.mrt.zk, CDL's library of the new queue.
 *
 * It calls the library as the services do, and never writes a znode itself. As a worker it does what the daemons of
 * mrt-ingest and mrt-store do, as an administrator what the admin tool does with the same library in Ruby.
 */
public final class Driver {
  /** The stdout for answers. The library prints, so System.out is stderr. */
  private static final PrintStream ANSWERS =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

  private static JSONObject hello;

  public static void main(String[] args) throws IOException {
    System.setOut(System.err);
    Map<String, Session> sessions = new HashMap<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JSONObject r = new JSONObject(line);
      if (r.getString("verb").equals("hello")) {
        hello = r;
        String name = "org.cdlib.mrt.zk " + System.getProperty("mrt-zk.version", "of an unknown version");
        answer(r, new JSONObject().put("implementation", name).put("protocol", 1).put("clock", false).put("strict", false)
            .put("dialects", List.of("mrt-zk")).put("without", List.of("repair", "await-emptied", "warnings")));
      } else {
        sessions.computeIfAbsent(r.getString("session"), Session::new).requests.add(r);
      }
    }
    sessions.values().forEach(s -> s.requests.add(Session.END));
  }

  private static synchronized void answer(JSONObject r, JSONObject fields) {
    ANSWERS.println(fields.put("n", r.getInt("n")));
  }

  /** A refusal, with its kind: see docs/drivers.md. */
  private static final class Refused extends Exception {
    final JSONObject answer = new JSONObject();

    Refused(String kind, String text) {
      super(text);
      answer.put("kind", kind).put("text", text);
    }

    /** The library has refused a step. What it allows is in its own table. */
    Refused(IngestState from, IngestState to, MerrittStateError why) {
      this("state", why.getMessage());
      JSONArray allowed = new JSONArray();
      from.nextStates().forEach(s -> allowed.put(spelled(s)));
      answer.put("from", spelled(from)).put("to", to == null ? "" : spelled(to)).put("allowed", allowed);
    }
  }

  /** A state as requests spell it: UpdateReporting is update-reporting. */
  private static String spelled(IngestState state) {
    return state.name().replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  /** The state that a request spells, of a kind of item. */
  private static IngestState state(String what, String name) {
    IngestState[] all = switch (what) {
      case "batch" -> BatchState.values();
      case "request" -> AccessState.values();
      default -> JobState.values();
    };
    return Arrays.stream(all).filter(s -> spelled(s).equals(name)).findFirst().orElseThrow();
  }

  /** The state after a success. The library names none after Pending: the services do. */
  private static IngestState next(IngestState state) {
    if (state == JobState.Pending) return JobState.Estimating;
    return state == AccessState.Pending ? AccessState.Processing : state.success();
  }

  private static String base(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private static JSONObject docs(JSONObject r) {
    return r.has("docs") ? r.getJSONObject("docs") : new JSONObject();
  }

  private static JSONObject ids(Collection<String> ids) {
    return new JSONObject().put("ids", ids);
  }

  private interface Ask { boolean call(ZooKeeper zk, String name) throws Exception; }

  private interface Tell { void call(ZooKeeper zk, String name) throws Exception; }

  private record Lock(Ask take, Tell release, Ask taken) {}

  /** The locks: a queue hold by its name, every other one by its kind. */
  private static final Map<String, Lock> LOCKS = Map.of(
      "ingest", new Lock((zk, n) -> MerrittLocks.lockIngestQueue(zk), (zk, n) -> MerrittLocks.unlockIngestQueue(zk),
          (zk, n) -> MerrittLocks.checkLockIngestQueue(zk)),
      "accessSmall", new Lock((zk, n) -> MerrittLocks.lockSmallAccessQueue(zk), (zk, n) -> MerrittLocks.unlockSmallAccessQueue(zk),
          (zk, n) -> MerrittLocks.checkLockSmallAccessQueue(zk)),
      "accessLarge", new Lock((zk, n) -> MerrittLocks.lockLargeAccessQueue(zk), (zk, n) -> MerrittLocks.unlockLargeAccessQueue(zk),
          (zk, n) -> MerrittLocks.checkLockLargeAccessQueue(zk)),
      "collection hold", new Lock(MerrittLocks::lockCollection, MerrittLocks::unlockCollection, MerrittLocks::checkLockCollection),
      "storage lock", new Lock(MerrittLocks::lockObjectStorage, MerrittLocks::unlockObjectStorage, MerrittLocks::checkLockObjectStorage),
      "inventory lock",
      new Lock(MerrittLocks::lockObjectInventory, MerrittLocks::unlockObjectInventory, MerrittLocks::checkLockObjectInventory),
      "local id lock", new Lock(MerrittLocks::lockObjectLocalID, MerrittLocks::unlockObjectLocalID, MerrittLocks::checkLockObjectLocalID));

  private interface Step { void take() throws Exception; }

  /** One actor: a thread with a ZooKeeper session of its own. */
  private static final class Session {
    static final JSONObject END = new JSONObject();

    final BlockingQueue<JSONObject> requests = new LinkedBlockingQueue<>();
    private final Map<String, QueueItem> acquired = new HashMap<>(); // by path
    private ZooKeeper zk;

    Session(String name) {
      new Thread(this::serve, name).start();
    }

    private void serve() {
      try {
        for (JSONObject r = requests.take(); r != END; r = requests.take()) {
          answer(r, result(r));
          if (zk == null) return; // it is closed
        }
        zk.close();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e); // nobody interrupts it
      }
    }

    /** Does a request. Whatever goes wrong is the answer: one act has failed, not the driver. */
    private JSONObject result(JSONObject r) {
      Refused why;
      try {
        return act(r);
      } catch (Refused e) {
        why = e;
      } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException e) {
        why = new Refused("lost", e.toString());
      } catch (Exception e) {
        e.printStackTrace();
        why = new Refused("other", e.toString());
      }
      return new JSONObject().put("refused", why.answer);
    }

    private JSONObject act(JSONObject r) throws Exception {
      String what = r.optString("what");
      String lockName = r.optString("name") + r.optString("owner"); // as in the layout; mrt-ingest puts a _ between
      if (zk != null) zk.sync("/", (code, path, context) -> { }, null); // mrtq may have written over another server
      switch (r.getString("verb")) {
        case "open" -> { return open(r.getString("root")); }
        case "close" -> { zk.close(); zk = null; }
        case "init" -> { Job.initNodes(zk); Access.initNodes(zk); MerrittLocks.initLocks(zk); } // as the services start
        case "create" -> { return ids(create(what, r)); }
        case "acquire" -> { return acquire(what, r); }
        case "pass" -> { return pass(r); }
        case "admin-move" -> adminMove(item(what, r), state(what, r.getString("to")), r.optString("from"));
        case "resume" -> resume((Job) item(what, r));
        case "give-up" -> step(item(what, r), BatchState.Failed, r.optString("message"));
        case "delete" -> step(item(what, r), state(what, "deleted"), "");
        case "set-priority" -> {
          Job job = (Job) item(what, r);
          job.setStatusWithPriority(zk, job.status(), docs(r).getInt("priority"));
        }
        case "clean" -> { return ids(clean(what)); }
        case "take-lock" -> { if (!lock(r).take.call(zk, lockName)) throw new Refused("locked", "the library returns false"); }
        case "release-lock" -> lock(r).release.call(zk, lockName);
        case "lock-taken" -> { return new JSONObject().put("yes", lock(r).taken.call(zk, lockName)); }
        default -> { return work(what, r); }
      }
      return new JSONObject();
    }

    private JSONObject open(String root) throws Exception {
      CountDownLatch connected = new CountDownLatch(1);
      zk = new ZooKeeper(hello.getString("servers") + root, 30_000, event -> {
        if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
      });
      for (Object credentials : hello.has("auth") ? hello.getJSONArray("auth") : new JSONArray()) {
        String[] parts = credentials.toString().split(":", 2);
        zk.addAuthInfo(parts[0], parts[1].getBytes(StandardCharsets.UTF_8));
      }
      if (!connected.await(15, TimeUnit.SECONDS)) throw new Refused("lost", "no connection within 15 s");
      return new JSONObject().put("zk_session", "0x" + Long.toHexString(zk.getSessionId()));
    }

    private Collection<String> create(String what, JSONObject r) throws Exception {
      if (what.equals("job")) return createJobs(base(r.getString("item")), r.getJSONArray("jobs"));
      if (what.equals("request")) {
        Access.Queues queue = Access.Queues.valueOf(r.getString("name"));
        return List.of(Access.createAssembly(zk, queue, docs(r).getJSONObject("token")).id());
      }
      try {
        return List.of(Batch.createBatch(zk, docs(r).getJSONObject("submission")).id());
      } catch (KeeperException.NodeExistsException e) {
        throw new Refused("exists", e.getMessage());
      }
    }

    private Collection<String> createJobs(String bid, JSONArray jobs) throws Exception {
      Collection<String> ids = new ArrayList<>();
      for (Object one : jobs) {
        JSONObject docs = (JSONObject) one;
        JSONObject metadata = docs.has("metadata") ? docs.getJSONObject("metadata") : new JSONObject();
        Job job = Job.createJob(zk, bid, docs.getInt("priority"), docs.getJSONObject("configuration").put("batch_id", bid),
            docs.getJSONObject("identifiers"), metadata);
        job.setSpaceNeeded(zk, docs.getLong("space_needed"));
        ids.add(job.id());
      }
      return ids;
    }

    private JSONObject acquire(String what, JSONObject r) throws Exception {
      IngestState from = state(what, r.getString("from"));
      QueueItem got = switch (what) {
        case "job" -> acquireJob((JobState) from);
        case "batch" -> acquireBatch((BatchState) from);
        default -> acquireRequest(Access.Queues.valueOf(r.getString("name")), (AccessState) from);
      };
      if (got == null) throw new Refused("none", "the library returns null");
      acquired.put(got.path(), got);
      JSONObject answer = new JSONObject().put("item", got.path());
      if (got instanceof Job job) answer.put("primary_id", job.primaryId());
      return answer.put("profile_name", QueueItem.jsonStringProperty(got.data(), MerrittJsonKey.ProfileName, ""));
    }

    private Job acquireJob(JobState from) throws Exception {
      if (from != JobState.Recording) respectHold("ingest"); // the inventory service does not look at it
      Job job = Job.acquireJob(zk, from);
      if (job == null || job.status() == from) return job;
      job.unlock(zk); // a daemon gives it back, and stops
      return null;
    }

    private Batch acquireBatch(BatchState from) throws Exception {
      respectHold("ingest");
      if (from == BatchState.Reporting) return Batch.acquireBatchForReporting(zk);
      if (from == BatchState.UpdateReporting) return Batch.acquireUpdateBatchForReporting(zk);
      if (from != BatchState.Pending) throw new Refused("unsupported", "no worker acquires a batch that is " + from);
      Batch batch = Batch.acquirePendingBatch(zk);
      // This writes a status, and its time has no fractions of a second. Only in another second mrtq can see whether
      // the next act writes one.
      if (batch != null) Thread.sleep(1000 - System.currentTimeMillis() % 1000);
      return batch;
    }

    /** A daemon moves a request from Pending to its end under one lock. Here it gives it back between. */
    private Access acquireRequest(Access.Queues queue, AccessState from) throws Exception {
      respectHold(queue == Access.Queues.large ? "accessLarge" : "accessSmall");
      if (from == AccessState.Pending) return Access.acquirePendingAssembly(zk, queue);
      for (Access request : Access.listJobs(zk, queue, from)) {
        if (request.lock(zk)) return request;
      }
      return null;
    }

    private void respectHold(String queue) throws Exception {
      if (LOCKS.get(queue).taken.call(zk, "")) throw new Refused("held", "the queue is held");
    }

    /** Looks at all jobs of a state. The locks of those that stay let the library find the next one. */
    private JSONObject pass(JSONObject r) throws Exception {
      long room = r.optLong("room");
      JSONArray looked = new JSONArray();
      List<Job> stay = new ArrayList<>();
      JobState from = (JobState) state("job", r.getString("from"));
      for (Job job = acquireJob(from); job != null; job = acquireJob(from)) {
        looked.put(job.id());
        if (job.spaceNeeded() <= room) {
          room -= job.spaceNeeded();
          step(job, next(from), "");
          job.unlock(zk);
        } else {
          stay.add(job);
        }
      }
      for (Job job : stay) job.unlock(zk);
      return new JSONObject().put("looked", looked);
    }

    /** What a worker does with what it has acquired. */
    private JSONObject work(String what, JSONObject r) throws Exception {
      QueueItem item = acquired.get(r.optString("item"));
      if (item == null) throw new Refused("not-locked", "this session has not acquired " + r.optString("item"));
      JSONObject answer = new JSONObject();
      switch (r.getString("verb")) {
        case "process" -> answer = ids(createJobs(item.id(), r.has("jobs") ? r.getJSONArray("jobs") : new JSONArray()));
        case "set" -> { write((Job) item, docs(r)); return answer; }
        case "succeed" -> succeed(item, docs(r));
        case "fail" -> step(item, item.status().fail(), r.optString("message"));
        case "hold" -> step(item, state(what, "held"), r.optString("message"));
        case "move" -> step(item, state(what, r.getString("to")), "");
        case "unlock" -> { }
        case "report" -> { return answer.put("report", report((Batch) item)); }
        case "finish" -> step(item, ((Batch) item).hasFailure() ? item.status().fail() : item.status().success(), "");
        default -> throw new Refused("unsupported", r.getString("verb") + " " + what);
      }
      item.unlock(zk);
      acquired.remove(item.path());
      return answer;
    }

    private void succeed(QueueItem item, JSONObject docs) throws Exception {
      IngestState to = next(item.status());
      if (item instanceof Job job) write(job, docs);
      if (item instanceof Job job && docs.has("priority")) {
        step(item, to, () -> job.setStatusWithPriority(zk, to, docs.getInt("priority")));
      } else {
        step(item, to, "");
      }
    }

    private void write(Job job, JSONObject docs) throws Exception {
      if (docs.has("space_needed")) job.setSpaceNeeded(zk, docs.getLong("space_needed"));
      if (docs.has("identifiers")) job.setIdentifiers(zk, docs.getJSONObject("identifiers"));
      if (docs.has("inventory")) {
        JSONObject to = docs.getJSONObject("inventory");
        job.setInventory(zk, to.getString("manifest_url"), to.getString("mode"));
      }
      if (docs.has("store")) {
        JSONObject to = docs.getJSONObject("store");
        job.setStore(zk, to.getString("manifest_url"), to.getString("mode"), to.getString("delete"));
      }
    }

    private void step(QueueItem item, IngestState to, String message) throws Exception {
      step(item, to, () -> item.setStatus(zk, to, message));
    }

    private void step(QueueItem item, IngestState to, Step step) throws Exception {
      IngestState from = item.status();
      try {
        step.take();
      } catch (MerrittStateError e) {
        throw new Refused(from, to, e);
      }
    }

    /** A report lists what the batch has. The library keeps no earlier report to compare it with. */
    private JSONObject report(Batch batch) throws Exception {
      return new JSONObject().put("newly_completed", sorted(batch.getCompletedJobs(zk)))
          .put("newly_failed", sorted(batch.getFailedJobs(zk))).put("still_failed", List.of())
          .put("resumed", sorted(batch.getProcessingJobs(zk))).put("changed", true);
    }

    private static List<String> sorted(List<Job> jobs) {
      return jobs.stream().map(Job::id).sorted().toList();
    }

    /** The item of a request, as it is in ZooKeeper. */
    private QueueItem item(String what, JSONObject r) throws Exception {
      String path = r.getString("item"), id = base(path);
      return switch (what) {
        case "job" -> new Job(id).load(zk);
        case "batch" -> new Batch(id).load(zk);
        default -> new Access(Access.Queues.valueOf(path.split("/")[2]), id).load(zk); // /access/small/qid…
      };
    }

    /** As the admin tool does: it takes no lock, unless it resumes a job. */
    private void adminMove(QueueItem item, IngestState to, String from) throws Exception {
      if (to == BatchState.Reporting && from.equals("processing")) { // the last job of the batch is done
        Batch batch = Batch.acquireBatchForReporting(zk);
        if (batch == null) throw new Refused("none", "the library returns null");
        batch.unlock(zk);
      } else if (item instanceof Job job && from.equals("failed")) {
        retry(job, to);
      } else {
        step(item, to, "");
      }
    }

    /** As the admin tool does: a job that has not succeeded in a step begins with Estimating. */
    private void resume(Job job) throws Exception {
      String last = job.jsonProperty(zk, ZKKey.STATUS).optString(MerrittJsonKey.LastSuccessfulStatus.key(), "");
      IngestState to = last.isEmpty() ? JobState.Estimating : next(JobState.valueOf(last));
      if (to == null) throw new Refused("not-resumable", "nothing follows " + last);
      retry(job, to);
    }

    private void retry(Job job, IngestState to) throws Exception {
      if (!job.lock(zk)) throw new Refused("locked", job.path() + " is locked");
      try {
        step(job, to, () -> job.setStatusWithRetry(zk, to));
      } finally {
        job.unlock(zk);
      }
    }

    /** The services clean batches, and the admin tool requests. Jobs that are Deleted only the library does. */
    private Collection<String> clean(String what) throws Exception {
      if (what.equals("jobs")) return Batch.deleteDeletedJobs(zk);
      if (what.equals("batches")) return Batch.deleteCompletedBatches(zk);
      Collection<String> ids = new ArrayList<>();
      for (Access.Queues queue : Access.Queues.values()) {
        for (Access request : Access.listJobs(zk, queue, null)) {
          if (request.status().isDeletable()) {
            request.delete(zk);
            ids.add(request.id());
          }
        }
      }
      return ids;
    }

    private static Lock lock(JSONObject r) throws Refused {
      Lock lock = LOCKS.get(r.getString("what").equals("queue hold") ? r.getString("name") : r.getString("what"));
      if (lock == null) throw new Refused("value", "the library has no " + r.getString("what") + " " + r.getString("name"));
      return lock;
    }
  }
}
