/*
 * OpenMP's routines: those of compiler/c/openmp/runtime.c under -fopenmp, else those of compiler/c/openmp/serial.c, as in
 * a program whose `omp` directives are comments: one thread, no devices. All are declarations, which may stand in a function.
 */
#pragma once
typedef enum { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;
#ifdef _OPENMP
void __accopt_omp_threads(void);
#endif
typedef struct { long words[8]; } omp_lock_t;
typedef struct { long words[10]; } omp_nest_lock_t;
typedef enum { omp_proc_bind_false, omp_proc_bind_true, omp_proc_bind_master, omp_proc_bind_close,
               omp_proc_bind_spread } omp_proc_bind_t;
typedef enum { omp_lock_hint_none = 0, omp_lock_hint_uncontended = 1, omp_lock_hint_contended = 2,
               omp_lock_hint_nonspeculative = 4, omp_lock_hint_speculative = 8 } omp_lock_hint_t;
double omp_get_wtime(void), omp_get_wtick(void);
int omp_get_num_threads(void), omp_get_max_threads(void), omp_get_thread_num(void), omp_get_num_procs(void);
int omp_get_thread_limit(void), omp_in_parallel(void), omp_get_dynamic(void), omp_get_nested(void);
int omp_get_level(void), omp_get_active_level(void), omp_get_max_active_levels(void);
int omp_get_supported_active_levels(void), omp_get_ancestor_thread_num(int), omp_get_team_size(int);
int omp_get_num_teams(void), omp_get_team_num(void), omp_get_num_devices(void), omp_get_default_device(void);
int omp_get_initial_device(void), omp_is_initial_device(void), omp_get_cancellation(void), omp_in_final(void);
int omp_get_max_task_priority(void), omp_get_num_places(void), omp_get_place_num(void);
int omp_get_place_num_procs(int), omp_get_partition_num_places(void);
void omp_get_place_proc_ids(int, int *), omp_get_partition_place_nums(int *);
omp_proc_bind_t omp_get_proc_bind(void);
void omp_set_num_threads(int), omp_set_dynamic(int), omp_set_nested(int), omp_set_max_active_levels(int);
void omp_set_default_device(int), omp_set_schedule(omp_sched_t, int), omp_get_schedule(omp_sched_t *, int *);
void omp_init_lock(omp_lock_t *), omp_destroy_lock(omp_lock_t *), omp_set_lock(omp_lock_t *);
void omp_unset_lock(omp_lock_t *), omp_init_lock_with_hint(omp_lock_t *, omp_lock_hint_t);
int omp_test_lock(omp_lock_t *);
void omp_init_nest_lock(omp_nest_lock_t *), omp_destroy_nest_lock(omp_nest_lock_t *);
void omp_set_nest_lock(omp_nest_lock_t *), omp_unset_nest_lock(omp_nest_lock_t *);
void omp_init_nest_lock_with_hint(omp_nest_lock_t *, omp_lock_hint_t);
int omp_test_nest_lock(omp_nest_lock_t *);
