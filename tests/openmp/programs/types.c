/* Variables of many types in clauses; what it prints is in types.txt, and the same with gcc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>
#include <complex.h>
struct S { int a; double v[4]; struct { short q; } in; };
typedef double row_t[5];
static int gl = 7; int arr[4]={1,2,3,4}; extern int arr[4];
static double tp = 2.5; static int tparr[3]={1,2,3}; static struct S tps = {4,{1,2,3,4},{9}};
#pragma omp threadprivate(tp, tparr, tps)
static long work(int n){ long s=0; 
#pragma omp parallel for reduction(+:s)
 for (int i=0;i<n;i++) s+=i; return s; }
static void fill(int n, double a[n][n]) {
 #pragma omp parallel for collapse(2)
 for (int i=0;i<n;i++) for(int j=0;j<n;j++) a[i][j]=i*n+j;
}
int sect(int k){ int r=0;
#pragma omp parallel sections reduction(+:r)
 {
 #pragma omp section
 for (int i=0;i<k;i++) { if (i==2) break; r+=1; }
 #pragma omp section
 switch(k){case 3: r+=100; break; default: r+=1000;}
 }
 return r; }
int main(int argc,char**argv){
  printf("%ld\n", work(1000));
  double m[6][6]; fill(6,m); double t=0; for(int i=0;i<36;i++) t+=m[0][i]; printf("%g\n",t);
  printf("%d\n", sect(3));
  struct S s={1,{1,2,3,4},{5}}; row_t r={1,2,3,4,5}; char buf[16]="abc"; char *str="xyz"; float f=1.5f; _Bool flag=1; unsigned char uc=200; long double ld=3.25L; short sh=-3;
  double tot=0; long double ldtot=0;
  #pragma omp parallel num_threads(2) firstprivate(s,r,buf,str,f,flag,uc,ld,sh) reduction(+:tot,ldtot)
  { s.v[2]+=1; r[4]*=2; buf[0]='z'; uc+=100; tot += s.a+s.v[2]+s.in.q+r[4]+buf[0]+buf[1]+str[1]+f+flag+uc+sh; ldtot+=ld; }
  printf("%g %Lg %s %g %d\n", tot, ldtot, buf, r[4], uc);
  int c2=0;
  #pragma omp parallel num_threads(3) reduction(+:c2) copyin(tp,tparr,tps)
  { tp += omp_get_thread_num(); tparr[1]+=1; tps.v[3]+=tp; c2 += (int)(tp*2)+tparr[1]+(int)tps.v[3]+sizeof(tps)/8; int *q=&tparr[0]; c2+=q[2]; }
  printf("%d %g\n", c2, tp);
  gl=0;
  #pragma omp parallel num_threads(4) private(gl)
  { gl = 5; }
  printf("%d\n", gl);
  #pragma omp parallel for firstprivate(arr) num_threads(2)
  for(int i=0;i<2;i++) arr[i]+=10;
  printf("%d %d\n", arr[0], arr[1]);
  unsigned us=0; unsigned long ul=1; signed char sc=0; _Bool any=0; double mx=-1e300, mn=1e300; unsigned umin=~0u, umax=0;
  #pragma omp parallel for reduction(+:us) reduction(*:ul) reduction(|:sc) reduction(||:any) reduction(max:mx,umax) reduction(min:mn,umin)
  for(int i=1;i<=16;i++){ us-=i; ul*=2; sc|=i; any=any||i==9; if(i*1.5>mx)mx=i*1.5; if(-i*1.5<mn)mn=-i*1.5; if(i+5u<umin)umin=i+5u; if(i*3u>umax)umax=i*3u; }
  printf("%u %lu %d %d %g %g %u %u\n", us,ul,sc,any,mx,mn,umin,umax);
  double _Complex z=0;
  #pragma omp parallel for reduction(+:z)
  for(int i=0;i<10;i++) z += i + 2.0*I*i;
  printf("%g %g\n", creal(z), cimag(z));
  int it=0; short si; unsigned long big=0;
  #pragma omp parallel for reduction(+:it)
  for(si=-5; si<=5; si+=5) it++;
  #pragma omp parallel for reduction(+:big)
  for(unsigned long k=0xfffffffffUL; k<0xfffffffffUL+10; k+=3) big+=k;
  printf("%d %lu\n", it, big);
  int cnt[3]={0};
  #pragma omp parallel num_threads(3) shared(cnt)
  { int me=omp_get_thread_num(); static int stat; 
    #pragma omp atomic
    stat++;
    #pragma omp barrier
    cnt[me]=stat; for(int i=0;i<3;i++){ 
      #pragma omp single
      { cnt[0]+=100; }
    } }
  printf("%d %d\n", cnt[0]%100, cnt[1]);
  int x=0,y=0;
  #pragma omp parallel num_threads(2)
  { 
    #pragma omp for lastprivate(x,y) schedule(static,1)
    for (int i=0;i<11;i++){ x=i; y=-i; }
    #pragma omp single
    printf("%d %d\n",x,y);
    #pragma omp for schedule(dynamic,2) lastprivate(x)
    for (int i=11;i>0;i--){ x=i; }
  }
  printf("%d\n",x);
  int v, w=5;
  #pragma omp atomic capture
  { v = w; w += 3; }
  printf("%d %d\n", v, w);
  #pragma omp atomic update
  w = w * 2;
  #pragma omp atomic
  tp -= 1;
  double dd=1;
  #pragma omp parallel num_threads(3)
  {
  #pragma omp atomic
  dd *= 2;
  }
  printf("%d %g %g\n", w, tp, dd);
  if (argc<5)
  #pragma omp parallel for
    for(int i=0;i<3;i++) ;
  else printf("no\n");
  for (int i=0;i<2;i++)
    #pragma omp critical
    w++;
  printf("%d\n", w);
  int fibs[10]; fibs[0]=fibs[1]=1;
  #pragma omp parallel
  #pragma omp single
  for(int i=2;i<10;i++) {
    #pragma omp task shared(fibs)
    { fibs[i]=i*i; struct S loc=s; loc.a=i; fibs[i]+=loc.a-i; }
  }
  int sum=0; for(int i=0;i<10;i++) sum+=fibs[i]; printf("%d\n",sum);
}
