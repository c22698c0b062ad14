#include <stdio.h>
void f(long *e) {
#pragma acc parallel deviceptr(e)
{ for (int i = 0; i < 4; i++) e[i] += 10; }
}
int main(void) { long h[4] = {1,2,3,4};
#pragma acc data copy(h)
{
#pragma acc host_data use_device(h)
{ f(h); f(h); }
}
printf("%ld %ld\n", h[0], h[3]); }
