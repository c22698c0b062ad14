/* Clustering with representatives and randomised hill climbing (CLEVER): of some neighbours of the current
   solution, each with a representative inserted, deleted or replaced, the best one is the next, until none is
   better. The fitness of all neighbours is computed at once, for every object the closest representative.
   Usage: clusters [objects] */
#include <stdio.h>
#include <stdlib.h>

#define GROUPS 7        /* in the data */
#define MOST 24         /* representatives of a solution */
#define NEIGHBOURS 32   /* sampled at a time */
#define RESAMPLING 6    /* times as many before giving up */
#define PENALTY 2000L   /* of a representative, per object */

static unsigned state = 2463534242u;

static int below(int n)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return (int)(state % (unsigned)n);
}

/* Objects around the corners of a crooked polygon, far from one another. */
static void make_objects(int n, int x[n], int y[n])
{
    static const int corners[GROUPS][2] = {{0, 0},      {900, 80},    {1700, 500}, {1500, 1400},
                                           {700, 1800}, {-200, 1200}, {800, 900}};
    for (int i = 0; i < n; i++) {
        x[i] = corners[i % GROUPS][0] + below(160) + below(160) - 160;
        y[i] = corners[i % GROUPS][1] + below(160) + below(160) - 160;
    }
}

/* How good each of `count` solutions is: small distances to representatives, and few of these. */
static void evaluate(int n, const int x[n], const int y[n], int count, const int size[count],
                     int representatives[count][MOST], long fitness[count])
{
#pragma acc parallel loop gang present(x[0:n], y[0:n]) copyin(size[0:count], representatives[0:count]) \
    copyout(fitness[0:count])
    for (int s = 0; s < count; s++) {
        long sum = 0;
#pragma acc loop vector reduction(+:sum)
        for (int i = 0; i < n; i++) {
            long best = 1L << 40;
            for (int k = 0; k < size[s]; k++) {
                long dx = x[i] - x[representatives[s][k]], dy = y[i] - y[representatives[s][k]];
                long distance = dx * dx + dy * dy;
                best = distance < best ? distance : best;
            }
            sum += best;
        }
        fitness[s] = -sum - PENALTY * size[s] * n;
    }
}

/* A neighbour of a solution: its number of representatives. */
static int change(int n, int size, const int from[MOST], int to[MOST])
{
    for (int k = 0; k < size; k++)
        to[k] = from[k];
    int operator = below(5);
    if (operator == 0 && size < MOST)
        to[size++] = below(n);
    else if (operator == 1 && size > 1)
        to[below(size)] = to[size - 1], size--;
    else
        to[below(size)] = below(n);
    return size;
}

/* The representatives found, from two taken at random; `tried` counts solutions. */
static int climb(int n, const int x[n], const int y[n], int current[MOST], long *best, int *tried)
{
    int size = 2, sizes[NEIGHBOURS], others[NEIGHBOURS][MOST], failures = 0;
    long fitness[NEIGHBOURS];
    for (int k = 0; k < size; k++)
        current[k] = below(n);
#pragma acc data copyin(x[0:n], y[0:n])
    {
        sizes[0] = size;
        for (int k = 0; k < size; k++)
            others[0][k] = current[k];
        evaluate(n, x, y, 1, sizes, others, best);
        while (failures <= RESAMPLING) {
            int found = -1;
            for (int s = 0; s < NEIGHBOURS; s++)
                sizes[s] = change(n, size, current, others[s]);
            evaluate(n, x, y, NEIGHBOURS, sizes, others, fitness);
            *tried += NEIGHBOURS;
            for (int s = 0; s < NEIGHBOURS; s++)
                if (fitness[s] > *best)
                    *best = fitness[s], found = s;
            failures = found < 0 ? failures + 1 : 0;
            if (found >= 0) {
                size = sizes[found];
                for (int k = 0; k < size; k++)
                    current[k] = others[found][k];
            }
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1400, current[MOST], tried = 0, seen[GROUPS] = {0}, good = 1;
    int *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    long best, again = 0;
    make_objects(n, x, y);
    int size = climb(n, x, y, current, &best, &tried);
    for (int i = 0; i < n; i++) {
        long least = 1L << 40;
        int own = 0;
        for (int k = 0; k < size; k++) {
            long dx = x[i] - x[current[k]], dy = y[i] - y[current[k]];
            if (dx * dx + dy * dy < least)
                least = dx * dx + dy * dy, own = k;
        }
        again -= least;
        seen[i % GROUPS] |= 1 << own;
    }
    good = again - PENALTY * size * n == best;
    for (int g = 0; g < GROUPS; g++)
        for (int h = 0; h < g; h++)
            good &= (seen[g] & seen[h]) == 0;
    printf("%d clusters for %d groups, fitness per object %ld, ", size, GROUPS, best / n);
    printf("%d solutions tried\n", tried);
    puts(good ? "the groups are told apart" : "WRONG");
    free(x);
    free(y);
    return !good;
}
