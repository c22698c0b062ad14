/* The profiling interface (5): the program registers callbacks and counts what they are told. */
#include "check.h"
#include <acc_prof.h>
#include <openacc.h>

#define N 64

static int count[acc_ev_last + 1], lines[acc_ev_last + 1], order[8], calls;
static size_t bytes[acc_ev_last + 1];
static acc_construct_t parent[acc_ev_last + 1];
static int tool, tool_seen, wrong, loop_line, wait_line;
static char last_kernel[64], last_variable[64];

static void counted(acc_prof_info *prof, acc_event_info *event, acc_api_info *api) {
  int e = prof->event_type;
  count[e]++;
  lines[e] = prof->line_no;
  parent[e] = event->other_event.parent_construct;
  wrong += event->event_type != prof->event_type || prof->version < 201711;
  wrong += prof->device_type != acc_get_device_type() || api->device_type != prof->device_type;
  wrong += prof->valid_bytes != sizeof *prof || prof->thread_id != 0;
  switch (prof->event_type) {
  case acc_ev_enqueue_launch_start:
    strncpy(last_kernel, event->launch_event.kernel_name, sizeof last_kernel - 1);
    wrong += event->launch_event.num_gangs == 0 || event->launch_event.vector_length == 0;
    event->launch_event.tool_info = &tool;
    break;
  case acc_ev_enqueue_launch_end:
    tool_seen += event->launch_event.tool_info == &tool;
    break;
  case acc_ev_enqueue_upload_start:
  case acc_ev_enqueue_download_start:
  case acc_ev_create:
  case acc_ev_alloc:
    if (event->data_event.var_name)
      strncpy(last_variable, event->data_event.var_name, sizeof last_variable - 1);
    bytes[e] += event->data_event.bytes;
    break;
  default:
    break;
  }
}

static void first(acc_prof_info *prof, acc_event_info *event, acc_api_info *api) {
  if (calls < 8)
    order[calls++] = 1;
}
static void second(acc_prof_info *prof, acc_event_info *event, acc_api_info *api) {
  if (calls < 8)
    order[calls++] = 2;
}

static void all(void (*with)(acc_event_t, acc_prof_callback, acc_register_t)) {
  for (int e = acc_ev_device_init_start; e <= acc_ev_wait_end; e++)
    with((acc_event_t)e, counted, acc_reg);
}

static void work(int *a, float *b, int n) {
#pragma acc data copy(a[0:n])
  {
    loop_line = __LINE__ + 1;
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++)
      a[i] += 1;
#pragma acc update self(a[0:4])
#pragma acc update device(a[0:4]) async(3)
    wait_line = __LINE__ + 1;
#pragma acc wait(3)
  }
#pragma acc enter data copyin(b[0:n])
#pragma acc exit data delete(b[0:n])
}

static void constructs(void) {
  int a[N], sum = 0;
  float b[N] = {0};
  for (int i = 0; i < N; i++)
    a[i] = i;
  work(a, b, N); /* before anything is registered */
  CHECK_EQ(count[acc_ev_enqueue_launch_start], 0);
  all(acc_prof_register);
  work(a, b, N);
  CHECK_EQ(count[acc_ev_device_init_start], 0);
  CHECK_EQ(count[acc_ev_compute_construct_start], 1);
  CHECK_EQ(count[acc_ev_compute_construct_end], 1);
  CHECK_EQ(count[acc_ev_enqueue_launch_start], 1);
  CHECK_EQ(count[acc_ev_update_start], 2);
  CHECK_EQ(count[acc_ev_update_end], 2);
  CHECK_EQ(count[acc_ev_wait_start], 1);
  CHECK_EQ(count[acc_ev_wait_end], 1);
  CHECK_EQ(count[acc_ev_enter_data_start], 3); /* data, parallel, enter data */
  CHECK_EQ(count[acc_ev_exit_data_end], 3);
  CHECK_EQ(tool_seen, 1);
  CHECK(strstr(last_kernel, "work") != 0);
  CHECK(parent[acc_ev_update_start] == acc_construct_update);
  CHECK(parent[acc_ev_wait_start] == acc_construct_wait);
  CHECK(lines[acc_ev_wait_start] == wait_line && lines[acc_ev_enqueue_launch_start] == loop_line);
  if (separate_memory()) {
    all(acc_prof_unregister);
    memset(count, 0, sizeof count);
    memset(bytes, 0, sizeof bytes);
    all(acc_prof_register);
    work(a, b, N);
    CHECK_EQ(count[acc_ev_create], 2);
    CHECK_EQ(count[acc_ev_delete], 2);
    CHECK_EQ(count[acc_ev_alloc], count[acc_ev_free]);
    CHECK_EQ(bytes[acc_ev_create], N * sizeof(int) + N * sizeof(float));
    CHECK_EQ(bytes[acc_ev_enqueue_upload_start], N * sizeof(int) + N * sizeof(float) + 16);
    CHECK_EQ(bytes[acc_ev_enqueue_download_start], N * sizeof(int) + 16);
    CHECK(strcmp(last_variable, "b") == 0);
  }
#pragma acc parallel loop reduction(+ : sum) copyin(a)
  for (int i = 0; i < N; i++)
    sum += a[i];
  CHECK_EQ(count[acc_ev_compute_construct_start], 2);
  CHECK_EQ(count[acc_ev_compute_construct_end], 2);
  all(acc_prof_unregister);
  work(a, b, N);
  CHECK_EQ(count[acc_ev_compute_construct_start], 2);
  CHECK_EQ(wrong, 0);
  CHECK(a[0] == 4 - !separate_memory() && sum == N * (N - 1) / 2 + 3 * N - !separate_memory() * N);
}

/* The construct that events name; a kernels construct is one, whatever it is made of. */
static void parents(void) {
  int a[N], b[N], i;
  acc_event_t start = acc_ev_compute_construct_start, launch = acc_ev_enqueue_launch_end;
  for (i = 0; i < N; i++)
    a[i] = b[i] = i;
  memset(count, 0, sizeof count);
  all(acc_prof_register);
#pragma acc serial copy(a)
  a[0] = 3;
  CHECK(count[start] == 1 && parent[start] == acc_construct_serial);
  CHECK(parent[launch] == acc_construct_serial && parent[acc_ev_exit_data_end] == acc_construct_serial);
#pragma acc serial loop
  for (i = 0; i < N; i++)
    a[i] += 1;
  CHECK(count[start] == 2 && parent[start] == acc_construct_serial);
#pragma acc kernels copy(a, b)
  {
    for (i = 0; i < N; i++)
      a[i] += 1;
    for (i = 1; i < N; i++)
      b[i] = b[i - 1] + a[i];
    b[0] = 5;
  }
  CHECK(count[start] == 3 && count[acc_ev_compute_construct_end] == 3);
  CHECK(count[acc_ev_enter_data_start] == 3 && count[acc_ev_exit_data_end] == 3 && count[launch] >= 4);
  CHECK(parent[start] == acc_construct_kernels && parent[launch] == acc_construct_kernels);
  CHECK(parent[acc_ev_enter_data_start] == acc_construct_kernels);
#pragma acc kernels loop
  for (i = 0; i < N; i++)
    a[i] += 1;
  CHECK(count[start] == 4 && parent[launch] == acc_construct_kernels);
#pragma acc parallel loop
  for (i = 0; i < N; i++)
    a[i] += 1;
  CHECK(count[start] == 5 && parent[launch] == acc_construct_parallel);
#pragma acc data copy(a)
  CHECK(parent[acc_ev_enter_data_end] == acc_construct_data);
#pragma acc enter data copyin(a)
  CHECK(parent[acc_ev_enter_data_end] == acc_construct_enter_data);
#pragma acc exit data delete(a)
  CHECK(parent[acc_ev_exit_data_end] == acc_construct_exit_data);
  all(acc_prof_unregister);
}

static void one(void) {
  int x = 1;
#pragma acc parallel copy(x)
  x += 1;
}

/* Starts in order of registration, ends in reverse; counts of registration; toggles. */
static void registration(void) {
  acc_event_t start = acc_ev_enqueue_launch_start, end = acc_ev_enqueue_launch_end;
  acc_prof_register(start, first, acc_reg);
  acc_prof_register(start, second, acc_reg);
  acc_prof_register(end, first, acc_reg);
  acc_prof_register(end, second, acc_reg);
  one();
  CHECK(calls == 4 && order[0] == 1 && order[1] == 2 && order[2] == 2 && order[3] == 1);
  calls = 0;
  acc_prof_register(start, first, acc_reg);
  one();
  CHECK(calls == 4);
  calls = 0;
  acc_prof_unregister(start, first, acc_reg);
  one();
  CHECK(calls == 4);
  calls = 0;
  acc_prof_unregister(start, first, acc_toggle);
  one();
  CHECK(calls == 3 && order[0] == 2);
  calls = 0;
  acc_prof_register(start, first, acc_toggle);
  acc_prof_unregister(end, NULL, acc_toggle_per_thread);
  one();
  CHECK(calls == 2);
  calls = 0;
  acc_prof_unregister(acc_ev_none, NULL, acc_toggle);
  one();
  CHECK(calls == 0);
  acc_prof_register(acc_ev_none, NULL, acc_toggle);
  one();
  CHECK(calls == 2);
  CHECK(acc_prof_lookup("no such function") == NULL);
}

static void routines(void) {
  char host[100] = {1}, back[100] = {0};
  memset(count, 0, sizeof count);
  all(acc_prof_register);
  void *d = acc_malloc(100);
  acc_memcpy_to_device(d, host, 100);
  acc_memcpy_from_device(back, d, 100);
  acc_free(d);
  acc_copyin(host, 100);
  acc_update_self(host, 100);
  acc_delete(host, 100);
  acc_wait_all();
  all(acc_prof_unregister);
  CHECK(back[0] == 1);
  CHECK(count[acc_ev_alloc] >= 1 && count[acc_ev_free] == count[acc_ev_alloc]);
  CHECK_EQ(count[acc_ev_enter_data_start], 1);
  CHECK_EQ(count[acc_ev_exit_data_start], 1);
  CHECK_EQ(count[acc_ev_update_start], 1);
  CHECK_EQ(count[acc_ev_wait_start], 1);
  CHECK(parent[acc_ev_update_start] == acc_construct_runtime_api);
}

int main(void) {
  constructs();
  parents();
  registration();
  routines();
  return report();
}
