/* private on kernels: the loop directives in it get the copies, or the construct has one of its own. */
#include <stdio.h>
double a[100], b[100];
static double g[4];
static int one(void){ int n=100, bad=0; double tmp[4], s, w[2][2]; int k; struct {double x; int y;} st;
for (int i=0;i<4;i++) tmp[i]=-1; s = -2; k=-3; st.x=-4;
#pragma acc data create(a,b)
{
#pragma acc kernels private(tmp) default(present)
for (int i = 0; i < n; i++) { for (int j=0;j<4;j++) tmp[j] = i * j; a[i] = tmp[0]+tmp[1]+tmp[2]+tmp[3]; }
#pragma acc kernels private(s,k) private(w) default(present)
{
for (int i = 0; i < n; i++) { s = i; w[0][1]=s; for (k=0;k<3;k++) w[0][1] += k; b[i]=w[0][1]; }
for (int i = 0; i < n; i++) { s = 2*i; w[1][1]=s; b[i] += w[1][1]; }
}
#pragma acc kernels private(st) default(present)
for (int i = 0; i < n; i++) { st.x = i; st.y = 2*i; b[i] += st.x + st.y; }
#pragma acc kernels private(st, tmp) default(present)
{
#pragma acc loop independent
for (int i = 0; i < n; i++) { st.x = i; st.y = 2*i; tmp[i%4]=i; b[i] += st.x + st.y + tmp[i%4]; }
}
#pragma acc kernels loop private(st, tmp) default(present)
for (int i = 0; i < n; i++) { st.x = i; st.y = 2*i; tmp[i%4]=i; b[i] += st.x + st.y + tmp[i%4]; }
#pragma acc update self(a,b)
}
for (int i=0;i<n;i++) { if (a[i] != 6*i) bad|=1; if (b[i] != i+3+2*i+3*i+4*i+4*i) bad|=2; }
if (tmp[0]!=-1||s!=-2||k!=-3||st.x!=-4) bad|=4;
return bad; }
static int two(void){ int n=100, bad=0, m=4; double tmp[4], *p = g; int c=-5;
g[0]=-1; tmp[0]=-2;
#pragma acc data create(a)
{
#pragma acc kernels private(g) default(present)
for (int i = 0; i < n; i++) { for (int j=0;j<4;j++) g[j] = i * j; a[i] = g[0]+g[1]+g[2]+g[3]; }
#pragma acc kernels private(tmp) default(present)
for (int i = 0; i < n; i++) { for (int j=0;j<4;j++) tmp[j] = i * j; a[i] += tmp[0]+tmp[1]+tmp[2]+tmp[3]; }
#pragma acc kernels private(p[0:4]) default(present)
{
#pragma acc loop gang vector
for (int i = 0; i < n; i++) { for (int j=0;j<4;j++) p[j] = i * j; a[i] += p[0]+p[1]+p[2]+p[3]; }
}
#pragma acc kernels private(c) default(present)
for (int i = 0; i < n; i++) { c = i; a[i]+=c; }
#pragma acc kernels private(c) default(none) copy(a) copyin(n)
{ c = 3;
for (int i = 0; i < n; i++) { a[i]+=c; } }
#pragma acc update self(a)
}
for (int i=0;i<n;i++) { if (a[i] != 6*i*3+i+3) bad|=1; }
if (g[0]!=-1||tmp[0]!=-2||c!=-5) bad|=4;
return bad; }
int main(void) {
  int bad = one() | two() << 3;
  printf("%s %d\n", bad ? "wrong" : "OK", bad);
  return bad;
}
