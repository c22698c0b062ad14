/* Allocation beyond <stdlib.h> (GNU). */
#pragma once
#include <stdlib.h>
void *memalign(size_t, size_t);
size_t malloc_usable_size(void *);
