/* Checks of the conformance programs: CHECK(condition) counts failures, `return report();` ends. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            failures++;                                                           \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);        \
        }                                                                         \
    } while (0)

#define CHECK_EQ(actual, expected)                                                \
    do {                                                                          \
        long long a_ = (long long)(actual), e_ = (long long)(expected);           \
        if (a_ != e_) {                                                           \
            failures++;                                                           \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, a_, e_); \
        }                                                                         \
    } while (0)

#define CHECK_NEAR(actual, expected)                                              \
    do {                                                                          \
        double a_ = (double)(actual), e_ = (double)(expected);                    \
        if (!(fabs(a_ - e_) <= 1e-5 * (1 + fabs(e_)))) {                          \
            failures++;                                                           \
            printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #actual, a_, e_); \
        }                                                                         \
    } while (0)

/* Whether the device has a memory of its own. */
static int separate_memory(void)
{
    int probe = 0, separate, *host = &probe;
#pragma acc data copyin(probe)
    {
#pragma acc serial present(probe)
        probe = 1;
        separate = *host == 0;
    }
    return separate;
}

static int report(void)
{
    if (failures == 0)
        printf("ok\n");
    return failures != 0;
}
