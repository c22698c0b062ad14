// RUN: accopt %s --target=nvptx --emit=gpu | filecheck %s

struct material { float c, rho; };
void keep(struct material *m);

// No pointer leads to a local variable whose address only clauses take: its argument is distinct from all others.
// CHECK:      sym_name = "hidden_{{[0-9]+}}_kernel"
// CHECK-SAME:  arg_attrs = [{}, {}, {llvm.noalias, llvm.readonly}, {llvm.readonly}]
void hidden(int n, float c, const float *a, float *b)
{
    struct material m = {c, 2 * c};
#pragma acc parallel loop present(a[0:n], b[0:n]) copyin(m)
    for (int i = 0; i < n; i++) {
        b[i] = m.c * a[i];
        b[i] += m.rho;
    }
}

// A function that is given the address may have stored it.
// CHECK:      sym_name = "known_{{[0-9]+}}_kernel"
// CHECK-SAME:  arg_attrs = [{}, {}, {llvm.readonly}, {llvm.readonly}]
void known(int n, float c, const float *a, float *b)
{
    struct material m = {c, 2 * c};
    keep(&m);
#pragma acc parallel loop present(a[0:n], b[0:n]) copyin(m)
    for (int i = 0; i < n; i++) {
        b[i] = m.c * a[i];
        b[i] += m.rho;
    }
}
