/* Memory of the calling function (GNU). */
#pragma once
#include <bits/size_t.h>
#define alloca(size) __builtin_alloca(size)
