void scale(int n, float (*restrict block)[12], float factor)
{
#pragma acc parallel loop copy(block[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int k = 0; k < 12; k++)
            block[i][k] *= factor;
}
