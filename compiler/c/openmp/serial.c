/*
 * The routines of omp.h without OpenMP: a file of every program that includes omp.h and has no file compiled with
 * -fopenmp. There is one thread: setting a lock a second time, which would wait forever, has no effect.
 */
#include <omp.h>
#include <time.h>

double omp_get_wtime(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double omp_get_wtick(void) { return 1e-9; }
int omp_get_num_threads(void) { return 1; }
int omp_get_max_threads(void) { return 1; }
int omp_get_thread_num(void) { return 0; }
int omp_get_num_procs(void) { return 1; }
int omp_get_thread_limit(void) { return 1; }
int omp_in_parallel(void) { return 0; }
int omp_get_dynamic(void) { return 0; }
int omp_get_nested(void) { return 0; }
int omp_get_level(void) { return 0; }
int omp_get_active_level(void) { return 0; }
int omp_get_max_active_levels(void) { return 1; }
int omp_get_supported_active_levels(void) { return 1; }
int omp_get_ancestor_thread_num(int level) { return level == 0 ? 0 : -1; }
int omp_get_team_size(int level) { return level == 0 ? 1 : -1; }
int omp_get_num_teams(void) { return 1; }
int omp_get_team_num(void) { return 0; }
int omp_get_num_devices(void) { return 0; }
int omp_get_default_device(void) { return 0; }
int omp_get_initial_device(void) { return 0; }
int omp_is_initial_device(void) { return 1; }
int omp_get_cancellation(void) { return 0; }
int omp_in_final(void) { return 0; }
int omp_get_num_places(void) { return 0; }
int omp_get_place_num(void) { return -1; }
int omp_get_place_num_procs(int place) { return (void)place, 0; }
void omp_get_place_proc_ids(int place, int *ids) { (void)place, (void)ids; }
int omp_get_partition_num_places(void) { return 0; }
void omp_get_partition_place_nums(int *places) { (void)places; }
int omp_get_max_task_priority(void) { return 0; }
omp_proc_bind_t omp_get_proc_bind(void) { return omp_proc_bind_false; }
void omp_set_num_threads(int n) { (void)n; }
void omp_set_dynamic(int on) { (void)on; }
void omp_set_nested(int on) { (void)on; }
void omp_set_max_active_levels(int n) { (void)n; }
void omp_set_default_device(int n) { (void)n; }
void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind, (void)chunk; }
void omp_get_schedule(omp_sched_t *kind, int *chunk) { *kind = omp_sched_static, *chunk = 0; }
void omp_init_lock(omp_lock_t *lock) { lock->words[0] = 0; }
void omp_init_lock_with_hint(omp_lock_t *lock, omp_lock_hint_t hint) { (void)hint, lock->words[0] = 0; }
void omp_destroy_lock(omp_lock_t *lock) { (void)lock; }
void omp_set_lock(omp_lock_t *lock) { lock->words[0] = 1; }
void omp_unset_lock(omp_lock_t *lock) { lock->words[0] = 0; }
int omp_test_lock(omp_lock_t *lock) { return lock->words[0] ? 0 : (lock->words[0] = 1); }
void omp_init_nest_lock(omp_nest_lock_t *lock) { lock->words[0] = 0; }
void omp_init_nest_lock_with_hint(omp_nest_lock_t *lock, omp_lock_hint_t hint) { (void)hint, lock->words[0] = 0; }
void omp_destroy_nest_lock(omp_nest_lock_t *lock) { (void)lock; }
void omp_set_nest_lock(omp_nest_lock_t *lock) { lock->words[0]++; }
void omp_unset_nest_lock(omp_nest_lock_t *lock) { lock->words[0]--; }
int omp_test_nest_lock(omp_nest_lock_t *lock) { return ++lock->words[0]; }
