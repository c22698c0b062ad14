/* Refused: see the message. */
#error OpenMP (<omp.h>) is not supported; use OpenACC constructs, and gettimeofday or clock_gettime for omp_get_wtime
