/* Switches of more cases than LLVM gets in one, and tables whose numbers repeat (C11 6.8.4.2, 6.7.9). */
#include "check.h"
#include <wchar.h>

/* 512 cases, each with the number F(k) and its own statement; some fall through. */
#define ONE(k) case F(k): r += (k) % 97; if ((k) % 5) break;
#define FOUR(k) ONE(k) ONE((k) + 1) ONE((k) + 2) ONE((k) + 3)
#define MANY(k) FOUR(k) FOUR((k) + 4) FOUR((k) + 8) FOUR((k) + 12)
#define ALL MANY(0) MANY(16) MANY(32) MANY(48) MANY(64) MANY(80) MANY(96) MANY(112) MANY(128) MANY(144) MANY(160) MANY(176) \
    MANY(192) MANY(208) MANY(224) MANY(240) MANY(256) MANY(272) MANY(288) MANY(304) MANY(320) MANY(336) MANY(352) MANY(368) \
    MANY(384) MANY(400) MANY(416) MANY(432) MANY(448) MANY(464) MANY(480) MANY(496)

#pragma acc routine seq
static int of_int(int x)
{
    int r = 1000;
#define F(k) (((k) - 256) * 3)
    switch (x) { ALL r += 5; break; default: r = -1; }
#undef F
    return r;
}
#pragma acc routine seq
static int of_unsigned(unsigned x)
{
    int r = 1000;
#define F(k) ((k) * 8388607u)
    switch (x) { default: r = -1; break; ALL r += 5; }
#undef F
    return r;
}
#pragma acc routine seq
static int of_long(long long x)
{
    int r = 1000;
#define F(k) (((k) - 200) * 4294967297ll)
    switch (x) { ALL }
#undef F
    return r;
}
#pragma acc routine seq
static int of_short(unsigned short x)
{
    int r = 1000;
#define F(k) ((k) * 128 + 7)
    switch (x) { case 65535: r = 2; ALL }
#undef F
    return r;
}

static int serial(int k, int last, int start)
{
    int r = start;
    for (; k < 512; k++) {
        r += k % 97;
        if (k % 5) return r;
    }
    return r + last;
}

static const unsigned char bytes[] = {1, 255, 7, 7, 255, 0x10, 1, 255, 7, 0, 7, 1, 1, 7, '7', 255, 1, 7, 255};
static const signed char signs[] = {1, 127, -128, 1, -1, 127, -128, 1, -1, 127, -128, 1, -1, 127, -128, 1, -1, 127, -128, 1};
static const double doubles[] = {1, 2.5, 1, 2.5, -0.0, 3, 1e300, 1, 2, 3, 1, 2.5, 3, 1, 2, 3, 1, 2, 3, 7};
static const float floats[] = {1, 2.5, 1, 0.1, -0.0, 3, 16777217, 1, 2, 3, 1, 2.5, 3, 1, 2, 3, 1, 2, 3, 7};
static const unsigned long long words[] = {1, -1, 1, 18446744073709551615u, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1ull << 63};
static const _Bool truths[] = {0, 1, 2, 0, 3, 2, 2, 1, 0, 0, 1, 2, 2, 2, 2, 0, 0, 1, 1, 5, 0, 2};
static int turned[] = {[19] = 4, [3] = 4, 5, 4, [0] = 4, [2] = 5, [3] = 6};
static const wchar_t wide[] = L"a\u00e9" L"\x1F600" L"zzzzzzzzzzzzzzzzzz";
static const unsigned short utf16[24] = u"\u20ac\U0001F600" u"bbb";
static struct { short n; wchar_t s[5]; char t[3][4]; struct { unsigned a : 3, b : 5; } f[2]; } record =
    {5, L"xy\x7fffffff", {"ab", "cdef", "7"}, {{7, 7}, {7, 31}}};
static const char names[][6] = {"one", "two", "three!", "\377\0z", ""};

int main(void)
{
    int a[512], b[512], c[512], d[512], o[4];
#pragma acc parallel loop copyout(a, b, c, d)
    for (int k = 0; k < 512; k++) {
        a[k] = of_int((k - 256) * 3);
        b[k] = of_unsigned(k * 8388607u);
        c[k] = of_long((k - 200) * 4294967297ll);
        d[k] = of_short((unsigned short)(k * 128 + 7));
    }
#pragma acc serial copyout(o)
    {
        o[0] = of_int(1);
        o[1] = of_unsigned(5);
        o[2] = of_long(-200);
        o[3] = of_short(65535);
    }
    for (int k = 0; k < 512; k++) {
        CHECK_EQ(a[k], serial(k, 5, 1000));
        CHECK_EQ(b[k], serial(k, 5, 1000));
        CHECK_EQ(c[k], serial(k, 0, 1000));
        CHECK_EQ(d[k], serial(k, 0, 1000));
        CHECK_EQ(of_int((k - 256) * 3), a[k]);
        CHECK_EQ(of_unsigned(k * 8388607u + 1), -1);
    }
    CHECK_EQ(o[0], -1); CHECK_EQ(o[1], -1); CHECK_EQ(o[2], 1000); CHECK_EQ(o[3], serial(0, 0, 2));

    CHECK(bytes[1] == 255 && bytes[5] == 16 && bytes[14] == '7' && bytes[18] == 255 && sizeof bytes == 19);
    CHECK(signs[2] == -128 && signs[17] == 127 && signs[16] == -1 && signs[18] == -128);
    CHECK(doubles[11] == 2.5 && signbit(doubles[4]) && doubles[6] == 1e300 && doubles[19] == 7);
    CHECK(floats[6] == 16777216 && floats[3] == 0.1f && signbit(floats[4]) && floats[11] == 2.5f);
    CHECK(words[1] == words[3] && words[19] == 1ull << 63 && words[18] == 3);
    CHECK(truths[2] == 1 && truths[19] == 1 && truths[20] == 0 && truths[21] == 1);
    CHECK(turned[19] == 4 && turned[3] == 6 && turned[4] == 5 && turned[5] == 4 && turned[1] == 0 && turned[2] == 5);
    CHECK(sizeof wide / sizeof *wide == 22 && wide[1] == 0xe9 && wide[2] == 0x1F600 && wide[20] == 'z' && !wide[21]);
    CHECK(utf16[0] == 0x20ac && utf16[1] == 0xd83d && utf16[2] == 0xde00 && utf16[5] == 'b' && !utf16[6] && !utf16[23]);
    CHECK(record.n == 5 && record.s[1] == 'y' && record.s[2] == 0x7fffffff && !record.s[4]);
    CHECK(!memcmp(record.t, "ab\0\0cdef7\0\0\0", 12) && record.f[0].a == 7 && record.f[0].b == 7 && record.f[1].b == 31);
    CHECK(!strcmp(names[1], "two") && !memcmp(names[2], "three!", 6) && !memcmp(names[3], "\377\0z\0\0", 6) && !names[4][0]);
    return report();
}
