/* Functions of the program with names of the C library's (C11 7.1.3; no header declares them): on the host and
   in constructs, with constants and variables, they are the program's. */
/* A fault is a wrong result: always in the simulator. */
int printf(const char *, ...);

static int failures;

#define CHECK(condition) \
    ((condition) ? 0 : (failures++, printf("%d: failed: %s\n", __LINE__, #condition)))

static float atanf(float x) { return x * 3; }
static double sin(double x) { return x + 2; }
static double pow(double x, double y) { return x + 3 * y; }
static int abs(int x) { return x - 1; }
static int isnan(int a, int b) { return a * b; }
static int toascii(int c) { return c + 1000; }
static unsigned long strlen(const char *s) { return s[0] + 77ul; }
static int memcpy(int n) { return n + 1; }
static long labs(long x) { return x * 5; }
static int calloc(int n) { return n * 9; }
int isdigit(int c) { return c * 3; }
int ffs(int x) { return x + 5; }
double round(double x) { return x + 0.25; }
double fmax(double x, double y) { return x + y; }
float sqrtf(float x) { return x * 8; }
static inline double floor(double x) { return x + 5; }

typedef struct { float x, y; } pair;
pair cabs(pair p) { p.x += 1; return p; }
float cosf(pair p) { return p.x - p.y; }

#pragma acc routine seq bind(sin)
double bound(double x) { return x; }
#pragma acc routine seq bind("round")
double bound_too(double x) { return x; }

int main(void)
{
    volatile int n = 7;
    volatile double v = 1.5;
    double r[32];
    for (int on = 0; on < 2; on++) {
        int k = n;
        double x = v;
#pragma acc parallel num_gangs(1) if(on) copyout(r)
        {
            pair p = {3, 1};
            r[0] = atanf(2), r[1] = sin(0.5), r[2] = sin(x), r[3] = pow(2, 3), r[4] = pow(x, x);
            r[5] = abs(-4), r[6] = abs(k), r[7] = isnan(2, 3), r[8] = toascii(3), r[9] = memcpy(k);
            r[10] = labs(-k), r[11] = calloc(k), r[12] = isdigit('4'), r[13] = ffs(8), r[14] = round(2.6);
            r[15] = round(x), r[16] = fmax(x, 1), r[17] = sqrtf(4), r[18] = floor(1.5), r[19] = floor(x);
            r[20] = cabs(p).x, r[21] = cosf(p), r[22] = strlen("a");
        }
        CHECK(r[0] == 6 && r[1] == 2.5 && r[2] == 3.5 && r[3] == 11 && r[4] == 6);
        CHECK(r[5] == -5 && r[6] == 6 && r[7] == 6 && r[8] == 1003 && r[9] == 8);
        CHECK(r[10] == -35 && r[11] == 63 && r[12] == 156 && r[13] == 13 && r[14] == 2.85);
        CHECK(r[15] == 1.75 && r[16] == 2.5 && r[17] == 32 && r[18] == 6.5 && r[19] == 6.5);
        CHECK(r[20] == 4 && r[21] == 2 && r[22] == 'a' + 77);
    }
    pair p = {v, n};
    double (*pointer)(double) = v > 1 ? round : sin;
    pair (*records)(pair) = cabs;
    CHECK(atanf(2) == 6 && sin(0.5) == 2.5 && pow(2, 3) == 11 && pow(v, 1) == 4.5 && abs(-4) == -5);
    CHECK(isnan(2, 3) == 6 && toascii(3) == 1003 && memcpy(n) == 8 && labs(-2) == -10 && calloc(1) == 9);
    CHECK(isdigit('4') == 156 && ffs(8) == 13 && round(2.6) == 2.85 && fmax(v, 1) == 2.5);
    CHECK(sqrtf(4) == 32 && floor(v) == 6.5 && strlen("b") == 'b' + 77 && pointer(2) == 2.25);
    CHECK(records(p).x == 2.5f && cosf(p) == -5.5f);
#pragma acc parallel num_gangs(1) copyout(r)
    r[0] = bound(1), r[1] = bound_too(1);
#if defined _OPENACC
    CHECK(r[0] == 3 && r[1] == 1.25);
#endif
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
