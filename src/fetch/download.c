/* Downloading by libcurl: which addresses are allowed, redirects, time-outs, new attempts, the size limit. */
#include "fetch/download.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ATTEMPTS = 4,
    FIRST_PAUSE = 60, /* part of the stall time-out: half a second, and doubled after each attempt */
    MOST_REDIRECTS = 5,
    CONNECT_TIMEOUT = 15, /* seconds */
    STALL_TIMEOUT = 30,   /* seconds in which less than STALL_SPEED bytes come in each */
    STALL_SPEED = 1000,
    LONGEST_TIMEOUT = 3600
};

#define LIBTIK_AGENT "libtik/" TIK_VERSION

/* A download under way. */
typedef struct transfer {
    const tik_fetch_request *request;
    const char *path; /* where a file got in another way could be put; may be NULL */
    tik_error *error;
    CURL *curl;
    bool loopback; /* the address asked for is http:// on this machine */
    tik_bytes *data;
    size_t from;
    tik_status failed; /* of the write callback: TIK_ERROR_LIMIT or TIK_ERROR_MEMORY */
    bool cancelled;
    char reason[CURL_ERROR_SIZE];
} transfer;

/* ---- Addresses ----------------------------------------------------------------------------- */

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

/* https:// is allowed; http:// only on this machine, and never after a redirect from https. */
static bool is_allowed(const char *url, bool after_https, bool *loopback)
{
    char *scheme = NULL;
    char *host = NULL;
    bool allowed = false;
    *loopback = false;
    CURLU *parts = curl_url();
    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        *loopback = strcmp(scheme, "http") == 0 && is_loopback(host);
        allowed = strcmp(scheme, "https") == 0 || (*loopback && !after_https);
    }
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(parts);
    return allowed;
}

/* ---- Callbacks of libcurl ------------------------------------------------------------------ */

/* Only a body that is wanted is kept: that of an error or a redirect is passed over. */
static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    transfer *t = context;
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200)
        return size * count;
    if (size * count > t->request->size_limit - (t->data->length - t->from)) {
        t->failed = TIK_ERROR_LIMIT;
        return 0;
    }
    t->failed = tik_bytes_append(t->data, bytes, size * count, t->error);
    return t->failed == TIK_OK ? size * count : 0;
}

static int tell_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    transfer *t = context;
    (void)up_total;
    (void)up_now;
    if (t->request->progress &&
        !t->request->progress(t->request->context, now > 0 ? (uint64_t)now : 0, total > 0 ? (uint64_t)total : 0))
        t->cancelled = true;
    return t->cancelled;
}

/* ---- One attempt --------------------------------------------------------------------------- */

static long timeout(long normal)
{
    const char *value = getenv("TIK_FETCH_TIMEOUT");
    char *end;
    long seconds = value ? strtol(value, &end, 10) : 0;
    return value && *value && !*end && seconds > 0 && seconds <= LONGEST_TIMEOUT ? seconds : normal;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Certificates as the curl command finds them: libcurl itself does not read these variables. */
static CURLcode set_certificates(CURL *curl)
{
    const char *file = environment("CURL_CA_BUNDLE");
    const char *folder = file ? NULL : environment("SSL_CERT_DIR");
    if (!file)
        file = environment("SSL_CERT_FILE");
    CURLcode code = file ? curl_easy_setopt(curl, CURLOPT_CAINFO, file) : CURLE_OK;
    if (code == CURLE_OK && folder)
        code = curl_easy_setopt(curl, CURLOPT_CAPATH, folder);
    return code;
}

static tik_status prepare(transfer *t)
{
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_NOPROGRESS, 0},
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_SSL_VERIFYPEER, 1},
        {CURLOPT_SSL_VERIFYHOST, 2},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_CONNECTTIMEOUT, timeout(CONNECT_TIMEOUT)},
        {CURLOPT_LOW_SPEED_LIMIT, STALL_SPEED},
        {CURLOPT_LOW_SPEED_TIME, timeout(STALL_TIMEOUT)},
    };
    CURLcode code = CURLE_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && code == CURLE_OK; i++)
        code = curl_easy_setopt(t->curl, numbers[i].option, numbers[i].value);
    const struct {
        CURLoption option;
        const void *value;
    } pointers[] = {
        {CURLOPT_PROTOCOLS_STR, t->loopback ? "http,https" : "https"},
        {CURLOPT_USERAGENT, LIBTIK_AGENT},
        {CURLOPT_WRITEDATA, t},
        {CURLOPT_XFERINFODATA, t},
        {CURLOPT_ERRORBUFFER, t->reason},
    };
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0] && code == CURLE_OK; i++)
        code = curl_easy_setopt(t->curl, pointers[i].option, pointers[i].value);
    if (code == CURLE_OK)
        code = curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, take_body);
    if (code == CURLE_OK)
        code = curl_easy_setopt(t->curl, CURLOPT_XFERINFOFUNCTION, tell_progress);
    if (code == CURLE_OK)
        code = curl_easy_setopt(t->curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->request->size_limit);
    if (code == CURLE_OK)
        code = set_certificates(t->curl);
    return code == CURLE_OK ? TIK_OK
                            : tik_fail(t->error, TIK_ERROR_MEMORY, "libcurl: %.200s", curl_easy_strerror(code));
}

static tik_status network(const transfer *t, const char *what, const char *advice)
{
    return tik_fail(t->error, TIK_ERROR_NETWORK,
                    "the rank file of %.60s could not be downloaded from %.120s: %.100s; %s%s%.120s", t->request->name,
                    t->request->url, what, advice, t->path ? ", or put the file at " : "", t->path ? t->path : "");
}

static tik_status too_large(const transfer *t)
{
    return tik_fail(t->error, TIK_ERROR_LIMIT,
                    "what %.200s sends is larger than the limit of %zu bytes: it is not the rank file of %.60s",
                    t->request->url, t->request->size_limit, t->request->name);
}

/* Whether a new attempt may help: what breaks a connection, not a name or a certificate that is wrong. */
static bool is_passing(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

/* What went wrong below HTTP. */
static tik_status explain(const transfer *t, CURLcode code)
{
    const char *reason = t->reason[0] ? t->reason : curl_easy_strerror(code);
    switch (code) {
    case CURLE_WRITE_ERROR:
        return t->failed == TIK_ERROR_LIMIT ? too_large(t) : t->failed;
    case CURLE_FILESIZE_EXCEEDED:
        return too_large(t);
    case CURLE_ABORTED_BY_CALLBACK:
        return tik_fail(t->error, TIK_ERROR_CANCELLED, "the download of the rank file of %.60s was cancelled",
                        t->request->name);
    case CURLE_OUT_OF_MEMORY:
        return tik_fail(t->error, TIK_ERROR_MEMORY, "libcurl: no memory");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return network(t, reason, "install the system's certificates, or name yours in SSL_CERT_FILE");
    default:
        return network(t, reason, "check the connection and the proxy (https_proxy)");
    }
}

/* One request. `*next` becomes where it redirects to, the handle's own, else NULL. `*again`: a failure may pass. */
static tik_status ask(transfer *t, const char *url, const char **next, bool *again)
{
    char *redirect = NULL;
    long code = 0;
    t->reason[0] = 0;
    t->failed = TIK_OK;
    t->data->length = t->from;
    CURLcode result = curl_easy_setopt(t->curl, CURLOPT_URL, url);
    if (result == CURLE_OK)
        result = curl_easy_perform(t->curl);
    *again = is_passing(result);
    if (result != CURLE_OK)
        return explain(t, result);
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(t->curl, CURLINFO_REDIRECT_URL, &redirect);
    *next = redirect;
    if (redirect || code == 200)
        return TIK_OK;
    char what[48];
    snprintf(what, sizeof what, "the server answered %ld", code);
    *again = code >= 500;
    return network(t, what, *again ? "try again later" : "check the address");
}

/* Asks, and follows redirects. */
static tik_status attempt(transfer *t, bool *again)
{
    bool loopback = t->loopback;
    char *url = strdup(t->request->url);
    tik_status status = TIK_OK;
    for (unsigned redirects = 0; status == TIK_OK; redirects++) {
        const char *next = NULL;
        if (!url) {
            status = tik_fail_memory(t->error, strlen(t->request->url));
            break;
        }
        status = ask(t, url, &next, again);
        if (status != TIK_OK || !next)
            break;
        if (!is_allowed(next, !loopback, &loopback))
            status = network(t, "it redirects to an address that is not https", "check the address");
        else if (redirects == MOST_REDIRECTS)
            status = network(t, "it redirects again and again", "check the address");
        char *copy = strdup(next);
        free(url);
        url = copy;
    }
    free(url);
    return status;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode ready;

static void set_up(void)
{
    ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

tik_status download(const tik_fetch_request *request, const char *path, tik_bytes *data, tik_error *error)
{
    transfer t = {.request = request, .path = path, .error = error, .data = data, .from = data->length};
    pthread_once(&once, set_up);
    if (ready != CURLE_OK)
        return tik_fail(error, TIK_ERROR_NETWORK, "libcurl cannot be used: %.200s", curl_easy_strerror(ready));
    if (!is_allowed(request->url, false, &t.loopback))
        return tik_fail(error, TIK_ERROR_ARGUMENT,
                        "%.60s: nothing is downloaded from %.200s: an https:// address is needed", request->name,
                        request->url);
    t.curl = curl_easy_init();
    if (!t.curl)
        return tik_fail(error, TIK_ERROR_MEMORY, "libcurl: no memory");
    tik_status status = prepare(&t);
    unsigned pause = (unsigned)timeout(STALL_TIMEOUT) * 1000 / FIRST_PAUSE;
    for (unsigned tries = 1; status == TIK_OK; tries++, pause *= 2) {
        bool again;
        status = attempt(&t, &again);
        if (status == TIK_OK || !again || tries == ATTEMPTS)
            break;
        if (!pause_for(pause, request->progress, request->context, 0, 0))
            status = explain(&t, CURLE_ABORTED_BY_CALLBACK);
        else
            status = TIK_OK;
    }
    curl_easy_cleanup(t.curl);
    if (status != TIK_OK)
        data->length = t.from;
    return status;
}
