#include "runtime/exec/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/kernels/matmul.h"

enum {
    MAX_THREAD = 1024,
    /* Looks at the flag before a worker sleeps: longer than the gap between two steps, shorter
     * than a person notices. */
    N_SPIN = 4000
};

typedef struct Job {
    VfPoolFn *fn;
    void *user;
    int64_t units, share; /* worker w does [w * share, (w + 1) * share) */
} Job;

typedef struct Worker {
    pthread_t thread;
    VfPool *pool;
    int32_t index;
} Worker;

struct VfPool {
    int32_t n_thread; /* with the caller */
    Worker *worker;   /* n_thread - 1 of them run */
    int32_t n_worker;
    pthread_mutex_t use;   /* held by the run whose step is shared */
    pthread_mutex_t mutex; /* of `wake` */
    pthread_cond_t wake;
    atomic_uint round;     /* counts jobs; a new number is the start signal */
    atomic_int n_busy;     /* workers not done with the job */
    atomic_int n_asleep;
    atomic_bool is_closing;
    Job job;
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void do_share(const Job *job, int32_t worker)
{
    int64_t begin = worker * job->share;
    int64_t end = begin + job->share < job->units ? begin + job->share : job->units;
    if (begin < end)
        job->fn(job->user, worker, begin, end);
}

static unsigned wait_for_round(VfPool *pool, unsigned seen)
{
    for (int i = 0; i < N_SPIN; i++) {
        unsigned now = atomic_load_explicit(&pool->round, memory_order_acquire);
        if (now != seen)
            return now;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->n_asleep, 1);
    while (atomic_load(&pool->round) == seen)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->n_asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
    return atomic_load(&pool->round);
}

static void *work(void *user)
{
    Worker *worker = user;
    VfPool *pool = worker->pool;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_round(pool, seen);
        if (atomic_load(&pool->is_closing))
            return NULL;
        do_share(&pool->job, worker->index);
        atomic_fetch_sub_explicit(&pool->n_busy, 1, memory_order_release);
    }
}

static void start_round(VfPool *pool)
{
    atomic_store(&pool->n_busy, pool->n_worker);
    atomic_fetch_add(&pool->round, 1);
    if (atomic_load(&pool->n_asleep) == 0)
        return;
    /* A worker that counted itself asleep holds the mutex until it waits, so none misses this. */
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static VfPool *pool_alloc(int32_t n_thread)
{
    VfPool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->n_thread = n_thread;
    pool->worker = calloc((size_t)n_thread, sizeof *pool->worker);
    if (pool->worker == NULL) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->use, NULL);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    return pool;
}

VfPool *vf_pool_new(int32_t n_thread)
{
    if (n_thread < 1 || n_thread > MAX_THREAD)
        return NULL;
    VfPool *pool = pool_alloc(n_thread);
    if (pool == NULL)
        return NULL;
    vfk_blas_single_thread();
    for (int32_t i = 0; i + 1 < n_thread; i++) {
        pool->worker[i].pool = pool;
        pool->worker[i].index = i + 1;
        if (pthread_create(&pool->worker[i].thread, NULL, work, &pool->worker[i]) != 0) {
            vf_pool_free(pool);
            return NULL;
        }
        pool->n_worker++;
    }
    return pool;
}

void vf_pool_free(VfPool *pool)
{
    if (pool == NULL)
        return;
    atomic_store(&pool->is_closing, true);
    start_round(pool);
    for (int32_t i = 0; i < pool->n_worker; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    pthread_mutex_destroy(&pool->use);
    free(pool->worker);
    free(pool);
}

int32_t vf_pool_size(const VfPool *pool) { return pool == NULL ? 1 : pool->n_thread; }

void vf_pool_share(VfPool *pool, VfPoolFn *fn, void *user, int64_t units, int64_t grain)
{
    int64_t n_grain = units / grain + (units % grain != 0);
    if (vf_pool_size(pool) == 1 || n_grain <= 1 || pthread_mutex_trylock(&pool->use) != 0) {
        if (units > 0)
            fn(user, 0, 0, units);
        return;
    }
    int64_t share = n_grain / pool->n_thread + (n_grain % pool->n_thread != 0);
    pool->job = (Job){fn, user, units, share * grain};
    start_round(pool);
    do_share(&pool->job, 0);
    while (atomic_load_explicit(&pool->n_busy, memory_order_acquire) != 0)
        pause_briefly();
    pthread_mutex_unlock(&pool->use);
}
