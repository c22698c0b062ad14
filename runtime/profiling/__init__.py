"""The profiling interface (`acc_prof.h`), its libraries and events, and traces."""
