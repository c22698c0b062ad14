/* Every directive and clause form that IR generation accepts; compiled, not run. */
#include <openacc.h>
typedef struct { int n; float *x; struct { float *y; int k[4]; } in; } S;
float resident[64];
extern int outside[16];
#pragma acc declare create(resident) copyin(outside)
#pragma acc routine seq
float f(float v) { return v + 1; }
#pragma acc routine vector nohost
void g(int n, float *a) {
#pragma acc loop vector
  for (int i = 0; i < n; i++) a[i] = f(a[i]);
}
#pragma acc routine gang(dim:2)
void g2(int n, float *a);
void update(int n, S *p, float **rows, float *q, int m, float (*w)[m], S s, int i) {
#pragma acc init device_type(nvidia) device_num(1) if(n > 3)
#pragma acc set default_async(2) device_num(0)
#pragma acc enter data copyin(p[0:1], p->x[0:n]) async(n) wait(1, 2)
#pragma acc enter data create(q[0:n], rows[i][0:m]) attach(p->in.y) if(i)
#pragma acc update device(q[2:n]) self(p->x[0:n]) if_present async wait
#pragma acc update host(w[0:n][1:m])
#pragma acc wait(1, 2) async(3)
#pragma acc wait
#pragma acc data copy(q[0:n]) copyin(readonly: w[0:n][0:m]) copyout(zero: s) present(p) no_create(rows[i][0:m]) deviceptr(q) async(1) default(present)
  {
#pragma acc host_data use_device(q, s) if_present
    { update(n, p, rows, q, m, w, s, i); }
#pragma acc parallel copy(p->x[0:n], p->in.k, s.in.k[1:2], rows[i][0:m]) copy(always: q[0:n]) firstprivate(s) private(i) wait(devnum: 0: queues: 1, 2) self(n < 10)
    {
#pragma acc loop gang(static:4) worker vector tile(8, *)
      for (int a = 0; a < n; a++)
        for (int b = 0; b < m; b++)
          w[a][b] += p->x[a] + rows[i][b] + s.in.k[1] + p->in.k[0];
    }
#pragma acc kernels loop gang(num:4) vector(32) num_workers(2) independent
    for (float *c = q; c < q + n; c++) *c += 1;
#pragma acc serial loop if(n)
    for (long k = n; k > 0; k -= 3) { q[k] = k; i = k; }
  }
#pragma acc exit data delete(q[0:n]) detach(p->in.y) finalize if(n)
  float priv[10]; double big[n]; unsigned umax = 0; int bits = -1, all = 1; float v, x = 0; int k;
#pragma acc parallel loop private(priv, big) reduction(max:umax) reduction(&:bits) reduction(&&:all) firstprivate(m)
  for (int j = 0; j < n; j++) {
    priv[j % 10] = j; big[j % n] = m;
    umax = umax > j ? umax : j; bits &= j; all = all && j;
#pragma acc cache(q[j:1])
#pragma acc atomic read
    v = x;
#pragma acc atomic write
    x = v * 2;
#pragma acc atomic if(j > 2)
    x = 3 - x;
#pragma acc atomic
    q[j % 3] = q[j % 3] * 2.0;
#pragma acc atomic capture
    { k = bits; bits = j; }
#pragma acc atomic capture
    { bits <<= 1; k = bits; }
#pragma acc atomic capture
    v = x -= 2;
  }
#pragma acc parallel num_gangs(2, 3)
  {
#pragma acc loop gang(dim:2)
    for (int a = 0; a < n; a++) {
#pragma acc loop gang(dim:1) vector reduction(+:x)
      for (int b = 0; b <= m; b++) { int t = b; while (t > 3) { if (t == 5) break; t--; } x += t; }
    }
  }
#pragma acc loop seq
  for (int t = n; t != 0; t = t / 2) q[t] = 0;
#pragma acc shutdown
  float local[8];
#pragma acc declare copy(local) present(q)
#pragma acc parallel loop
  for (int j = 0; j < 8; j++) local[j] += resident[j] + q[j];
}
