/* The heap of device code: blocks of one iteration, lists over several constructs, zeros, failures. */
#include "check.h"
#include <stdint.h>
#define N 96

struct node {
    int value;
    struct node *next;
};

#pragma acc routine seq
static long sum_of_squares(int n)
{
    int *t = malloc(n * sizeof *t);
    long s = 0;
    if (!t)
        return -1;
    for (int i = 0; i < n; ++i)
        t[i] = i * i;
    for (int i = 0; i < n; ++i)
        s += t[i];
    free(t);
    return s;
}

#pragma acc routine seq
static struct node *push(struct node *head, int value)
{
    struct node *n = malloc(sizeof *n);
    if (n) {
        n->value = value;
        n->next = head;
    }
    return n;
}

int main(void)
{
    long sums[N];
    int lists[N], zeros[N];
    struct node *heads[N];
    char *kept[2];
#pragma acc data create(heads) copyout(sums, lists, zeros)
    {
#pragma acc parallel loop
        for (int i = 0; i < N; i++) {
            sums[i] = sum_of_squares(i + 1);
            heads[i] = NULL;
            for (int k = 0; k < i % 5; k++)
                heads[i] = push(heads[i], i + k);
        }
#pragma acc parallel loop
        for (int i = 0; i < N; i++) {
            lists[i] = 0;
            while (heads[i]) {
                struct node *next = heads[i]->next;
                lists[i] += heads[i]->value;
                free(heads[i]);
                heads[i] = next;
            }
            free(NULL);
        }
#pragma acc parallel loop gang num_gangs(8)
        for (int g = 0; g < 8; g++) {
            int *row = calloc(N, sizeof *row);
#pragma acc loop vector
            for (int i = 0; i < N / 8; i++)
                row[i] += g + i;
#pragma acc loop vector
            for (int i = 0; i < N / 8; i++)
                zeros[g * (N / 8) + i] = row[i] + row[N - 1];
            free(row);
        }
#pragma acc serial copyout(kept)
        {
            kept[0] = calloc(SIZE_MAX / 2, 4);
            kept[1] = calloc(0, 8);
            free(kept[1]);
        }
    }
    for (int i = 0; i < N; i++) {
        long square = 0;
        int list = 0;
        for (int k = 0; k <= i; k++)
            square += k * k;
        for (int k = 0; k < i % 5; k++)
            list += i + k;
        CHECK_EQ(sums[i], square);
        CHECK_EQ(lists[i], list);
        CHECK_EQ(zeros[i], i / (N / 8) + i % (N / 8));
    }
    CHECK(kept[0] == NULL);
    return report();
}
