/*
 * OpenMP's runtime: teams, worksharing, tasks, locks and the routines of omp.h. It is compiled as a file of
 * every program that refers to it. Members of teams, atomic operations on words, and waiting come from the team
 * of threads that runs gangs (runtime/native/gangs.py), as functions __accopt_team_*.
 *
 * A *team* is on the stack of the thread that began the region, its first member. It ends when `running`
 * becomes 0; no thread accesses it after that. `event` changes whenever a waiting thread may be able to continue.
 * All members enter worksharing constructs in the same order: construct k uses loops[k % LOOPS], which the last
 * member that leaves resets for construct k + LOOPS.
 */
typedef unsigned long size_t;
typedef struct { long words[8]; } mutex_t;
typedef unsigned int key_type;

void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
int strcmp(const char *, const char *);
char *getenv(const char *);
long strtol(const char *, char **, int);
int dprintf(int, const char *, ...);
void abort(void);
void exit(int);
int clock_gettime(int, long *);
int sched_getaffinity(int, size_t, unsigned long *);
unsigned long pthread_self(void);
int pthread_key_create(key_type *, void (*)(void *));
void *pthread_getspecific(key_type);
int pthread_setspecific(key_type, const void *);
int pthread_mutex_lock(mutex_t *);
int pthread_mutex_trylock(mutex_t *);
int pthread_mutex_unlock(mutex_t *);
int pthread_attr_init(long *);
int pthread_attr_setstacksize(long *, size_t);
int pthread_setattr_default_np(const long *);

long __accopt_team_take(long from);
void __accopt_team_call(long member, void (*function)(void *), void *argument);
void __accopt_team_release(long member);
long __accopt_team_add(long *word, long value);
long __accopt_team_swap(long *word, long old, long new_value);
long __accopt_team_load(long *word);
void __accopt_team_store(long *word, long value);
long __accopt_team_spin(long *word, long value, long turns);
void __accopt_team_sleep(long *word, long value);
void __accopt_team_wake(long *word);
void __accopt_team_fence(void);

enum { LOOPS = 16, MOST = 256, SPINS = 2000, QUEUED = 64, BUCKETS = 64 };
enum { STATIC = 1, DYNAMIC, GUIDED, AUTO, RUNTIME };

struct task {
  struct task *next, *parent;
  void (*function)(void *);
  long children, references, final;
  long *group; /* the number of unfinished tasks of the innermost taskgroup around it */
  long unused;
};

struct loop {
  long turn; /* the number of its construct minus its index in `loops` */
  long next, done;
  long unused[5];
};

struct team {
  long size, spins;
  void (*body)(void *);
  void *frame;
  void *published;
  struct task *queue;
  mutex_t lock, queue_lock;
  const char *place;
  long unused[3];
  long running, event, phase, arrived, sleepers, tasks, queued, ending;
  struct loop loops[LOOPS];
};

struct thread {
  struct team *team;
  long number, member, constructs, level, active, threads, dynamic, schedule, chunk;
  struct thread *outer;
  struct task *task, implicit;
  long unused[6];
};

static struct {
  long ready, threads, processors, limit, dynamic, schedule, chunk, spins, levels;
  key_type key;
  mutex_t lock;
} omp = { .threads = 1 };

/* Waiting ------------------------------------------------------------------------------------------------ */

static void happened(struct team *team)
{
  __accopt_team_add(&team->event, 1);
  if (__accopt_team_load(&team->sleepers))
    __accopt_team_wake(&team->event);
}

static void wait_event(struct team *team, long seen)
{
  if (__accopt_team_spin(&team->event, seen, team->spins))
    return;
  __accopt_team_add(&team->sleepers, 1);
  if (__accopt_team_load(&team->event) == seen)
    __accopt_team_sleep(&team->event, seen);
  __accopt_team_add(&team->sleepers, -1);
}

/* The environment, and the calling thread ---------------------------------------------------------------- */

static void complain(const char *name, const char *value, const char *meaning)
{
  dprintf(2, "accopt: %s=%s is ignored: write %s\n", name, value, meaning);
}

static long number_of(const char *name, long least, long otherwise)
{
  char *text = getenv(name), *end;
  if (text == 0 || *text == 0)
    return otherwise;
  long value = strtol(text, &end, 10);
  if (end != text && (*end == 0 || *end == ',') && value >= least)
    return value;
  complain(name, text, "a number from 1 on");
  return otherwise;
}

static int word_is(const char *text, const char *word, const char **rest)
{
  while (*text == ' ')
    text++;
  while (*word && (*text | 32) == *word)
    text++, word++;
  *rest = text;
  return *word == 0;
}

static long truth_of(const char *name)
{
  const char *text = getenv(name), *rest;
  if (text == 0 || *text == 0 || word_is(text, "false", &rest) || (*text == '0' && text[1] == 0))
    return 0;
  if (word_is(text, "true", &rest) || (*text == '1' && text[1] == 0))
    return 1;
  complain(name, text, "true or false");
  return 0;
}

static void read_schedule(void)
{
  const char *text = getenv("OMP_SCHEDULE"), *rest;
  omp.schedule = STATIC, omp.chunk = 0;
  if (text == 0 || *text == 0)
    return;
  const char *kind = text;
  if (word_is(kind, "monotonic:", &rest) || word_is(kind, "nonmonotonic:", &rest))
    kind = rest;
  long found = word_is(kind, "static", &rest)    ? STATIC
               : word_is(kind, "dynamic", &rest) ? DYNAMIC
               : word_is(kind, "guided", &rest)  ? GUIDED
               : word_is(kind, "auto", &rest)    ? AUTO
                                                 : 0;
  while (*rest == ' ')
    rest++;
  char *end = (char *)rest;
  long chunk = *rest == ',' ? strtol(rest + 1, &end, 10) : 0;
  if (found == 0 || *end != 0 || (*rest == ',' && chunk < 1)) {
    complain("OMP_SCHEDULE", text, "static, dynamic, guided or auto, and perhaps ',' and a chunk size");
    return;
  }
  omp.schedule = found, omp.chunk = chunk;
}

static void read_stack_size(void)
{
  const char *text = getenv("OMP_STACKSIZE");
  char *end;
  long attributes[16];
  if (text == 0 || *text == 0)
    return;
  long size = strtol(text, &end, 10);
  long unit = *end | 32;
  size <<= unit == 'b' ? 0 : unit == 'm' ? 20 : unit == 'g' ? 30 : 10;
  if (size < 16384 || pthread_attr_init(attributes) || pthread_attr_setstacksize(attributes, size)
      || pthread_setattr_default_np(attributes))
    complain("OMP_STACKSIZE", text, "a size in KiB, or with B, K, M or G");
}

static void only_one_level(const char *who)
{
  static long told;
  if (__accopt_team_swap(&told, 0, 1) == 0)
    dprintf(2, "accopt: %s: nested parallel regions run with one thread\n", who);
}

static void begin(void)
{
  pthread_mutex_lock(&omp.lock);
  if (!__accopt_team_load(&omp.ready)) {
    unsigned long mask[16] = {0};
    sched_getaffinity(0, sizeof mask, mask);
    for (int i = 0; i < 16; i++)
      omp.processors += __builtin_popcountl(mask[i]);
    if (omp.processors < 1)
      omp.processors = 1;
    omp.limit = number_of("OMP_THREAD_LIMIT", 1, MOST);
    omp.threads = number_of("OMP_NUM_THREADS", 1, omp.processors);
    omp.dynamic = truth_of("OMP_DYNAMIC");
    omp.levels = 1;
    const char *policy = getenv("OMP_WAIT_POLICY"), *rest;
    omp.spins = policy && word_is(policy, "passive", &rest)  ? 0
                : policy && word_is(policy, "active", &rest) ? 1L << 40
                                                             : SPINS;
    if (policy && *policy && omp.spins == SPINS)
      complain("OMP_WAIT_POLICY", policy, "active or passive");
    if (truth_of("OMP_NESTED"))
      only_one_level("OMP_NESTED=true");
    if (number_of("OMP_MAX_ACTIVE_LEVELS", 0, 1) > 1)
      only_one_level("OMP_MAX_ACTIVE_LEVELS");
    read_schedule();
    read_stack_size();
    if (pthread_key_create(&omp.key, free))
      abort();
    __accopt_team_store(&omp.ready, 1);
  }
  pthread_mutex_unlock(&omp.lock);
}

static void become_initial(struct thread *self, struct team *team)
{
  team->size = 1;
  for (long i = 0; i < LOOPS; i++)
    team->loops[i].turn = i;
  self->team = team;
  self->task = &self->implicit;
  self->threads = omp.threads, self->dynamic = omp.dynamic;
  self->schedule = omp.schedule, self->chunk = omp.chunk;
}

/* A thread that no region started is the only member of a team. */
static struct thread *initial(void)
{
  if (!__accopt_team_load(&omp.ready))
    begin();
  struct thread *self = pthread_getspecific(omp.key);
  if (self == 0) {
    struct { struct thread thread; struct team team; } *own = calloc(1, sizeof *own);
    if (own == 0)
      abort();
    become_initial(&own->thread, &own->team);
    self = &own->thread;
    pthread_setspecific(omp.key, self);
  }
  return self;
}

static struct thread *current(void)
{
  struct thread *self = omp.ready ? pthread_getspecific(omp.key) : 0;
  return self ? self : initial();
}

/* Tasks -------------------------------------------------------------------------------------------------- */

static void forget(struct task *task)
{
  if (__accopt_team_add(&task->references, -1) == 1)
    free(task);
}

static void perform(struct thread *self, struct task *task)
{
  struct task *outer = self->task, *parent = task->parent;
  self->task = task;
  task->function(task + 1);
  self->task = outer;
  if (task->group)
    __accopt_team_add(task->group, -1);
  __accopt_team_add(&parent->children, -1);
  if (parent->references)
    forget(parent);
  forget(task);
}

static int run_one(struct thread *self)
{
  struct team *team = self->team;
  if (!__accopt_team_load(&team->queued))
    return 0;
  pthread_mutex_lock(&team->queue_lock);
  struct task *task = team->queue;
  if (task) {
    team->queue = task->next;
    __accopt_team_add(&team->queued, -1);
  }
  pthread_mutex_unlock(&team->queue_lock);
  if (task == 0)
    return 0;
  perform(self, task);
  __accopt_team_add(&team->tasks, -1);
  happened(team);
  return 1;
}

/* Memory for the captured values of a task, of `bytes` bytes. */
void *__accopt_omp_task_frame(long bytes)
{
  struct task *task = calloc(1, sizeof *task + bytes);
  if (task == 0)
    abort();
  return task + 1;
}

/* `deferred`: 1 if the task may run later, 0 to run it at once, 2 to run it and the tasks that it creates at once. */
void __accopt_omp_task(void (*function)(void *), void *frame, int deferred)
{
  struct thread *self = current();
  struct team *team = self->team;
  struct task *task = (struct task *)frame - 1;
  task->function = function;
  task->references = 1;
  task->parent = self->task;
  task->final = deferred == 2 || self->task->final;
  task->group = self->task->group;
  if (task->group)
    __accopt_team_add(task->group, 1);
  __accopt_team_add(&self->task->children, 1);
  if (self->task->references)
    __accopt_team_add(&self->task->references, 1);
  if (deferred != 1 || task->final || team->size == 1 || __accopt_team_load(&team->queued) >= QUEUED * team->size) {
    perform(self, task);
    return;
  }
  __accopt_team_add(&team->tasks, 1);
  pthread_mutex_lock(&team->queue_lock);
  task->next = team->queue;
  team->queue = task;
  __accopt_team_add(&team->queued, 1);
  pthread_mutex_unlock(&team->queue_lock);
  happened(team);
}

/* Runs tasks until the count `*left` is 0. */
static void wait_tasks(struct thread *self, long *left)
{
  while (__accopt_team_load(left)) {
    long seen = __accopt_team_load(&self->team->event);
    if (run_one(self) || !__accopt_team_load(left))
      continue;
    wait_event(self->team, seen);
  }
}

void __accopt_omp_taskwait(void)
{
  struct thread *self = current();
  wait_tasks(self, &self->task->children);
}

/* Begins a task group; `words`: the number of its unfinished tasks, and the group around it. */
void __accopt_omp_group(long *words)
{
  struct task *task = current()->task;
  words[0] = 0, words[1] = (long)task->group;
  task->group = words;
}

void __accopt_omp_group_end(long *words)
{
  struct thread *self = current();
  wait_tasks(self, words);
  self->task->group = (long *)words[1];
}

void __accopt_omp_taskyield(void)
{
  run_one(current());
}

void *__accopt_omp_own(long bytes)
{
  void *memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == 0)
    abort();
  return memory;
}

void __accopt_omp_disown(void *memory) { free(memory); }

void *__accopt_omp_keep(const void *object, long bytes)
{
  void *copy = malloc(bytes ? bytes : 1);
  if (copy == 0)
    abort();
  return memcpy(copy, object, bytes);
}

void __accopt_omp_restore(void *object, void *copy, long bytes)
{
  memcpy(object, copy, bytes);
  free(copy);
}

void __accopt_omp_copy(void *target, const void *source, long bytes)
{
  if (target != source)
    memcpy(target, source, bytes);
}

/* Teams -------------------------------------------------------------------------------------------------- */

/*
 * All threads have reached the barrier of this phase. Ends the program if some of them are at the region's end and
 * others, which would wait forever, are not. The number of the former is constant until a thread leaves the barrier.
 */
static void check_ending(struct team *team, long phase)
{
  long ending = __accopt_team_load(&team->ending);
  if (ending == 0 || ending == team->size || __accopt_team_load(&team->phase) != phase)
    return;
  dprintf(2, "%s: error: the threads of this region do not reach the same barriers: %ld of %ld are at its end\n"
             "  all threads of a team must reach each barrier, and each for, sections and single that has one\n",
          team->place, ending, team->size);
  exit(1);
}

/* Waits until all members are here and no task is left; members run tasks while they wait. */
void __accopt_omp_barrier(void)
{
  struct thread *self = current();
  struct team *team = self->team;
  long phase = __accopt_team_load(&team->phase), all = (phase + 1) * team->size;
  __accopt_team_add(&team->arrived, 1);
  for (;;) {
    long seen = __accopt_team_load(&team->event);
    if (__accopt_team_load(&team->phase) != phase)
      return;
    if (run_one(self))
      continue;
    if (__accopt_team_load(&team->arrived) == all && __accopt_team_load(&team->tasks) == 0) {
      check_ending(team, phase);
      if (__accopt_team_swap(&team->phase, phase, phase + 1) == phase)
        happened(team);
      return;
    }
    wait_event(team, seen);
  }
}

static void end_part(struct team *team)
{
  __accopt_team_add(&team->ending, 1);
  __accopt_omp_barrier();
}

static void take_part(void *argument)
{
  struct thread *self = argument;
  struct team *team = self->team;
  long member = self->member;
  pthread_setspecific(omp.key, self);
  team->body(team->frame);
  end_part(team);
  pthread_setspecific(omp.key, 0);
  __accopt_team_release(member);
  if (__accopt_team_add(&team->running, -1) == 1)
    __accopt_team_wake(&team->running);
}

static long wanted_threads(struct thread *self, int asked, int several, const char *place)
{
  static long told, told_none;
  long wanted = asked > 0 ? asked : self->threads;
  if (asked < 0 || (asked == 0 && several == 2)) {
    if (__accopt_team_swap(&told_none, 0, 1) == 0)
      dprintf(2, "%s: warning: num_threads(%d): a team has at least one thread\n", place, asked);
    return 1;
  }
  if (!several || self->active >= omp.levels)
    return 1;
  if (self->dynamic && wanted > omp.processors)
    wanted = omp.processors;
  long most = omp.limit < MOST ? omp.limit : MOST;
  if (wanted > most && __accopt_team_swap(&told, 0, 1) == 0)
    dprintf(2, "%s: warning: a team of %ld threads is requested but gets %ld\n"
               "  request fewer, or raise OMP_THREAD_LIMIT (at most %d)\n",
            place, wanted, most, (int)MOST);
  return wanted < most ? wanted : most;
}

/* `several`: whether the region's `if` is true; 2 if it has num_threads. */
void __accopt_omp_parallel(
    void (*body)(void *), void *frame, int asked, int several, const char *place)
{
  struct thread *self = current();
  long wanted = wanted_threads(self, asked, several, place), size = 1, from = 1;
  struct thread *threads = calloc(wanted, sizeof *threads);
  struct team *team = calloc(1, sizeof *team);
  if (threads == 0 || team == 0)
    abort();
  for (; size < wanted; size++) {
    threads[size].member = __accopt_team_take(from);
    if (threads[size].member == 0)
      break;
    from = threads[size].member + 1;
  }
  team->body = body, team->frame = frame, team->place = place;
  team->size = size, team->running = size - 1;
  team->spins = size > omp.processors ? 0 : omp.spins;
  for (long i = 0; i < LOOPS; i++)
    team->loops[i].turn = i;
  for (long i = 0; i < size; i++) {
    struct thread *t = &threads[i];
    t->team = team, t->number = i, t->outer = self, t->task = &t->implicit;
    t->level = self->level + 1, t->active = self->active + (size > 1);
    t->threads = self->threads, t->dynamic = self->dynamic;
    t->schedule = self->schedule, t->chunk = self->chunk;
    if (i == 0)
      t->member = self->member;
    else
      __accopt_team_call(t->member, take_part, t);
  }
  pthread_setspecific(omp.key, threads);
  body(frame);
  end_part(team);
  pthread_setspecific(omp.key, self);
  long left;
  while ((left = __accopt_team_load(&team->running)) != 0)
    if (!__accopt_team_spin(&team->running, left, team->spins))
      __accopt_team_sleep(&team->running, left);
  free(threads);
  free(team);
}

/* Worksharing -------------------------------------------------------------------------------------------- */

/* The words of a loop: first and end of the piece, kind, chunk, iterations, next piece, construct. */
enum { FIRST, END, KIND, CHUNK, COUNT, NEXT, CONSTRUCT };

static struct loop *enter(struct thread *self, long *construct)
{
  *construct = self->constructs++;
  struct loop *loop = &self->team->loops[*construct % LOOPS];
  long turn;
  while ((turn = __accopt_team_load(&loop->turn)) != *construct)
    if (!__accopt_team_spin(&loop->turn, turn, self->team->spins))
      __accopt_team_sleep(&loop->turn, turn);
  return loop;
}

static void leave(struct thread *self, struct loop *loop, long construct)
{
  if (__accopt_team_add(&loop->done, 1) < self->team->size - 1)
    return;
  loop->next = 0, loop->done = 0;
  __accopt_team_store(&loop->turn, construct + LOOPS);
  __accopt_team_wake(&loop->turn);
}

void __accopt_omp_loop(long *words, long kind, long chunk, long count, const char *place)
{
  struct thread *self = current();
  if (kind == RUNTIME)
    kind = self->schedule, chunk = self->chunk;
  else if (chunk < 0) {
    dprintf(2, "%s: error: the chunk size of 'schedule' is not positive\n", place);
    exit(1);
  }
  words[KIND] = kind == AUTO ? STATIC : kind, words[COUNT] = count;
  words[CHUNK] = chunk ? chunk : kind == DYNAMIC || kind == GUIDED ? 1 : 0;
  words[NEXT] = 0;
  if (words[KIND] != STATIC)
    enter(self, &words[CONSTRUCT]);
}

static long static_piece(struct thread *self, long *words)
{
  long count = words[COUNT], size = self->team->size, chunk = words[CHUNK];
  long piece = words[NEXT]++;
  if (chunk) {
    long first = (piece * size + self->number) * chunk;
    words[FIRST] = first, words[END] = count - first < chunk ? count : first + chunk;
    return first < count;
  }
  long each = count / size, rest = count % size, own = self->number;
  words[FIRST] = own * each + (own < rest ? own : rest);
  words[END] = words[FIRST] + each + (own < rest);
  return piece == 0 && words[FIRST] < words[END];
}

/* Gets another piece for the thread, words[FIRST] to words[END] - 1; returns whether there is one. */
int __accopt_omp_piece(long *words)
{
  struct thread *self = current();
  if (words[KIND] == STATIC)
    return static_piece(self, words);
  struct loop *loop = &self->team->loops[words[CONSTRUCT] % LOOPS];
  long count = words[COUNT], chunk = words[CHUNK], first, length = chunk;
  if (words[KIND] == DYNAMIC)
    first = __accopt_team_add(&loop->next, chunk);
  else
    do {
      first = __accopt_team_load(&loop->next);
      length = (count - first) / (2 * self->team->size);
      length = length > chunk ? length : chunk;
    } while (first < count && __accopt_team_swap(&loop->next, first, first + length) != first);
  if (first >= count) {
    leave(self, loop, words[CONSTRUCT]);
    return 0;
  }
  words[FIRST] = first, words[END] = count - first < length ? count : first + length;
  return 1;
}

/* Returns whether the thread is the one that runs this `single`. */
int __accopt_omp_single(void)
{
  struct thread *self = current();
  long construct;
  struct loop *loop = enter(self, &construct);
  int first = __accopt_team_add(&loop->next, 1) == 0;
  leave(self, loop, construct);
  return first;
}

void __accopt_omp_publish(void *values)
{
  current()->team->published = values;
}

void *__accopt_omp_published(void)
{
  return current()->team->published;
}

/* Exclusion ---------------------------------------------------------------------------------------------- */

void __accopt_omp_combine(void)
{
  pthread_mutex_lock(&current()->team->lock);
}

void __accopt_omp_combined(void)
{
  pthread_mutex_unlock(&current()->team->lock);
}

struct critical {
  struct critical *next;
  const char *name;
  struct thread *owner;
  mutex_t lock;
};

/* `cell` caches the program's lock of this name; `place` is that of the directive. */
void __accopt_omp_critical(long *cell, const char *name, const char *place)
{
  static struct critical *all;
  struct critical *found = (struct critical *)__accopt_team_load(cell);
  if (found == 0) {
    if (!__accopt_team_load(&omp.ready))
      begin();
    pthread_mutex_lock(&omp.lock);
    for (found = all; found && strcmp(found->name, name); found = found->next)
      ;
    if (found == 0) {
      found = calloc(1, sizeof *found);
      if (found == 0)
        abort();
      found->name = name, found->next = all;
      all = found;
    }
    __accopt_team_store(cell, (long)found);
    pthread_mutex_unlock(&omp.lock);
  }
  struct thread *self = current();
  if (__accopt_team_load((long *)&found->owner) == (long)self) {
    dprintf(2, "%s: error: omp critical%s%s%s inside itself waits forever\n"
               "  give them different names, or leave out the inner one\n",
            place, *name ? " (" : "", name, *name ? ")" : "");
    exit(1);
  }
  pthread_mutex_lock(&found->lock);
  __accopt_team_store((long *)&found->owner, (long)self);
}

void __accopt_omp_critical_end(long *cell)
{
  struct critical *found = (struct critical *)__accopt_team_load(cell);
  __accopt_team_store((long *)&found->owner, 0);
  pthread_mutex_unlock(&found->lock);
}

void __accopt_omp_flush(void)
{
  __accopt_team_fence();
}

/* threadprivate ------------------------------------------------------------------------------------------ */

struct variable {
  struct variable *next;
  void *object, *begun; /* its value when the program begins */
  void *copies[MOST];
};

/* The calling thread's copy of a variable; the first thread has the variable itself. */
void *__accopt_omp_private(void *object, long bytes)
{
  static struct variable *variables[BUCKETS];
  struct variable **bucket = &variables[((unsigned long)object >> 3) % BUCKETS];
  long member = current()->member;
  struct variable *v = (struct variable *)__accopt_team_load((long *)bucket);
  while (v && v->object != object)
    v = v->next;
  if (v && (member == 0 || v->copies[member]))
    return member ? v->copies[member] : object;
  pthread_mutex_lock(&omp.lock);
  for (v = *bucket; v && v->object != object; v = v->next)
    ;
  if (v == 0) {
    v = calloc(1, sizeof *v);
    if (v == 0)
      abort();
    v->object = object, v->begun = __accopt_omp_keep(object, bytes), v->next = *bucket;
    __accopt_team_store((long *)bucket, (long)v);
  }
  if (member)
    v->copies[member] = __accopt_omp_keep(v->begun, bytes);
  pthread_mutex_unlock(&omp.lock);
  return member ? v->copies[member] : object;
}

/* The routines of omp.h ---------------------------------------------------------------------------------- */

int __accopt_omp_number(void) { return current()->number; }
int omp_get_num_threads(void) { return current()->team->size; }
int omp_get_thread_num(void) { return current()->number; }
int omp_get_max_threads(void) { return current()->threads; }
int omp_in_parallel(void) { return current()->active > 0; }
int omp_get_level(void) { return current()->level; }
int omp_get_active_level(void) { return current()->active; }
int omp_get_dynamic(void) { return current()->dynamic; }
int omp_get_nested(void) { return 0; }
int omp_get_max_active_levels(void) { return 1; }
int omp_get_supported_active_levels(void) { return 1; }
int omp_get_cancellation(void) { return 0; }
int omp_get_proc_bind(void) { return 0; }
int omp_in_final(void) { return current()->task->final != 0; }
int omp_get_num_places(void) { return 0; }
int omp_get_place_num(void) { return -1; }
int omp_get_place_num_procs(int place) { return (void)place, 0; }
void omp_get_place_proc_ids(int place, int *ids) { (void)place, (void)ids; }
int omp_get_partition_num_places(void) { return 0; }
void omp_get_partition_place_nums(int *places) { (void)places; }
int omp_get_num_teams(void) { return 1; }
int omp_get_team_num(void) { return 0; }
int omp_get_num_devices(void) { return 0; }
int omp_get_default_device(void) { return 0; }
int omp_get_initial_device(void) { return 0; }
int omp_is_initial_device(void) { return 1; }
int omp_get_max_task_priority(void) { return 0; }
void omp_set_default_device(int device) { (void)device; }
void omp_set_dynamic(int on) { current()->dynamic = on != 0; }

int omp_get_num_procs(void)
{
  current();
  return omp.processors;
}

int omp_get_thread_limit(void)
{
  current();
  return omp.limit < MOST ? omp.limit : MOST;
}

void omp_set_num_threads(int threads)
{
  if (threads < 1) {
    dprintf(2, "accopt: omp_set_num_threads(%d): a team has at least one thread\n", threads);
    return;
  }
  current()->threads = threads;
}

void omp_set_nested(int on)
{
  if (on)
    only_one_level("omp_set_nested");
}

void omp_set_max_active_levels(int levels)
{
  if (levels > 1)
    only_one_level("omp_set_max_active_levels");
}

void omp_set_schedule(int kind, int chunk)
{
  struct thread *self = current();
  kind &= 0x7fffffff;
  if (kind >= STATIC && kind <= AUTO)
    self->schedule = kind, self->chunk = chunk > 0 ? chunk : 0;
}

void omp_get_schedule(int *kind, int *chunk)
{
  struct thread *self = current();
  *kind = self->schedule, *chunk = self->chunk;
}

static struct thread *ancestor(int level)
{
  struct thread *t = current();
  if (level < 0 || level > t->level)
    return 0;
  while (t->level > level)
    t = t->outer;
  return t;
}

int omp_get_ancestor_thread_num(int level)
{
  struct thread *t = ancestor(level);
  return t ? t->number : -1;
}

int omp_get_team_size(int level)
{
  struct thread *t = ancestor(level);
  return t ? t->team->size : -1;
}

double omp_get_wtime(void)
{
  long time[2];
  clock_gettime(1, time);
  return (double)time[0] + 1e-9 * (double)time[1];
}

double omp_get_wtick(void) { return 1e-9; }

void omp_init_lock(mutex_t *lock) { *lock = (mutex_t){0}; }
void omp_init_lock_with_hint(mutex_t *lock, int hint) { (void)hint, *lock = (mutex_t){0}; }
void omp_destroy_lock(mutex_t *lock) { (void)lock; }
void omp_set_lock(mutex_t *lock) { pthread_mutex_lock(lock); }
void omp_unset_lock(mutex_t *lock) { pthread_mutex_unlock(lock); }
int omp_test_lock(mutex_t *lock) { return pthread_mutex_trylock(lock) == 0; }

struct nest {
  mutex_t lock;
  long owner, count;
};

static int is_owner(struct nest *lock)
{
  return __accopt_team_load(&lock->owner) == (long)pthread_self();
}

static int own(struct nest *lock)
{
  __accopt_team_store(&lock->owner, (long)pthread_self());
  return ++lock->count;
}

void omp_init_nest_lock(struct nest *lock) { *lock = (struct nest){0}; }
void omp_init_nest_lock_with_hint(struct nest *lock, int hint) { (void)hint, *lock = (struct nest){0}; }
void omp_destroy_nest_lock(struct nest *lock) { (void)lock; }

void omp_set_nest_lock(struct nest *lock)
{
  if (!is_owner(lock))
    pthread_mutex_lock(&lock->lock);
  own(lock);
}

int omp_test_nest_lock(struct nest *lock)
{
  return is_owner(lock) || pthread_mutex_trylock(&lock->lock) == 0 ? own(lock) : 0;
}

void omp_unset_nest_lock(struct nest *lock)
{
  if (--lock->count == 0) {
    __accopt_team_store(&lock->owner, 0);
    pthread_mutex_unlock(&lock->lock);
  }
}
