#include "runtime/exec/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/kernels/matmul.h"

enum {
    MAX_THREAD = 1024,
    LINE = 64, /* of the cache: what different threads write lies on different ones */
    /* A thread that waits looks for this long before it sleeps: about what it costs to sleep and
     * be woken, so a wait costs at most twice of what it had to. */
    SPIN_NS = 50000,
    N_LOOK = 32, /* looks between two looks at the clock */
    CUT = 64, LEAST_CUTS = 16
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
    int64_t spin_ns;
    pthread_mutex_t use;   /* held by the run whose step is shared */
    pthread_mutex_t mutex; /* of the conditions */
    pthread_cond_t wake;   /* a round began */
    pthread_cond_t done;   /* a round ended, and the caller is asleep */
    atomic_int n_asleep;   /* workers */
    atomic_bool is_caller_asleep;
    atomic_bool is_closing;
    Job job;
    alignas(LINE) atomic_uint round;  /* counts jobs; a new number is the start signal */
    alignas(LINE) atomic_uint n_busy; /* workers not done with the job */
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

int32_t vf_processor_count(void)
{
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (int32_t)n;
}

/* Look until `*word` is `value` (or, with `until_other`, is not): false when it takes too long. */
static bool spin(const VfPool *pool, const atomic_uint *word, unsigned value, bool until_other)
{
    int64_t begin = 0;
    for (int i = 0;; i++) {
        if ((atomic_load_explicit(word, memory_order_acquire) == value) != until_other)
            return true;
        if (i % N_LOOK != N_LOOK - 1) {
            pause_briefly();
            continue;
        }
        int64_t now = vf_clock_ns();
        begin = begin == 0 ? now : begin;
        if (now - begin >= pool->spin_ns)
            return false;
    }
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
    if (spin(pool, &pool->round, seen, true))
        return atomic_load_explicit(&pool->round, memory_order_acquire);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->n_asleep, 1);
    while (atomic_load(&pool->round) == seen)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->n_asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
    return atomic_load(&pool->round);
}

/* The last worker wakes the caller, if it went to sleep. The caller looks at `n_busy` after it said
 * so, the worker at what it said after it counted: one of them sees the other. */
static void end_share(VfPool *pool)
{
    if (atomic_fetch_sub(&pool->n_busy, 1) != 1 || !atomic_load(&pool->is_caller_asleep))
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_workers(VfPool *pool)
{
    if (spin(pool, &pool->n_busy, 0, false))
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->is_caller_asleep, true);
    while (atomic_load(&pool->n_busy) != 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->is_caller_asleep, false);
    pthread_mutex_unlock(&pool->mutex);
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
        end_share(pool);
    }
}

static void start_round(VfPool *pool)
{
    atomic_store(&pool->n_busy, (unsigned)pool->n_worker);
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
    VfPool *pool = aligned_alloc(LINE, sizeof *pool);
    if (pool == NULL)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->n_thread = n_thread;
    /* Who waits for a thread that has no processor of its own keeps it from running. */
    pool->spin_ns = n_thread <= vf_processor_count() ? SPIN_NS : 0;
    pool->worker = calloc((size_t)n_thread, sizeof *pool->worker);
    if (pool->worker == NULL) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->use, NULL);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
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
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
    pthread_mutex_destroy(&pool->use);
    free(pool->worker);
    free(pool);
}

int32_t vf_pool_size(const VfPool *pool) { return pool == NULL ? 1 : pool->n_thread; }

/* Equal shares for as many workers as have a grain each. Long ones end at a multiple of CUT units:
 * of elements, two workers do not write to one line of the cache then. */
static int64_t share_of(const VfPool *pool, int64_t units, int64_t n_grain)
{
    int64_t n = n_grain < pool->n_thread ? n_grain : pool->n_thread;
    int64_t share = units / n + (units % n != 0);
    if (share / CUT < LEAST_CUTS)
        return share;
    return share % CUT == 0 ? share : share + CUT - share % CUT;
}

void vf_pool_share(VfPool *pool, VfPoolFn *fn, void *user, int64_t units, int64_t grain)
{
    int64_t n_grain = units / grain + (units % grain != 0);
    if (vf_pool_size(pool) == 1 || n_grain <= 1 || pthread_mutex_trylock(&pool->use) != 0) {
        if (units > 0)
            fn(user, 0, 0, units);
        return;
    }
    pool->job = (Job){fn, user, units, share_of(pool, units, n_grain)};
    start_round(pool);
    do_share(&pool->job, 0);
    wait_for_workers(pool);
    pthread_mutex_unlock(&pool->use);
}
