/* Which files a call is about: operands, lists of names, folders walked in the order of names. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { DEEPEST = 256 }; /* folders within folders; a walk never holds more than a few names at each */

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *made = malloc(size);
    return made ? memcpy(made, text, size) : NULL;
}

/* Takes over `name`, which malloc gave. */
static bool add_owned(cli_names *names, char *name)
{
    if (name && cli_names_add(names, name))
        return true;
    free(name);
    cli_no_memory();
    return false;
}

static bool matches(const cli_names *globs, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < globs->length; i++)
        if (fnmatch(globs->data[i], base, 0) == 0 || fnmatch(globs->data[i], path, 0) == 0)
            return true;
    return false;
}

/* What stands in a folder: its path, owned, and its kind, if the folder tells it. */
typedef struct folder_entry {
    char *path;
    enum { UNKNOWN, FOLDER, REGULAR, OTHER } kind;
} folder_entry;

typedef struct folder_list {
    folder_entry *data;
    size_t length;
    size_t capacity;
} folder_list;

static int by_path(const void *a, const void *b)
{
    return strcmp(((const folder_entry *)a)->path, ((const folder_entry *)b)->path);
}

static bool walk(cli_call *call, const char *folder, size_t depth, cli_names *names);

/* Asking for each file's kind would take as long as opening it. */
static void find_kind(cli_call *call, folder_entry *entry)
{
    struct stat status;
    if (entry->kind != UNKNOWN)
        return;
    entry->kind = OTHER;
    if (lstat(entry->path, &status) != 0)
        cli_blame(call, entry->path, "%s", strerror(errno));
    else if (S_ISDIR(status.st_mode))
        entry->kind = FOLDER;
    else if (S_ISREG(status.st_mode))
        entry->kind = REGULAR;
}

/* A file to add, a folder to walk. Other things are passed over. Takes over the path. */
static bool visit(cli_call *call, folder_entry *entry, size_t depth, cli_names *names)
{
    bool good = true;
    find_kind(call, entry);
    if (entry->kind != OTHER && !matches(&call->exclude, entry->path)) {
        if (entry->kind == FOLDER)
            good = walk(call, entry->path, depth + 1, names);
        else if (call->include.length == 0 || matches(&call->include, entry->path))
            return add_owned(names, entry->path);
    }
    free(entry->path);
    return good;
}

static char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%.*s%s%s", (int)length, folder, length == 1 && *folder == '/' ? "" : "/", name);
    return path;
}

static bool add_entry(folder_list *entries, const char *folder, const struct dirent *found)
{
    if (entries->length == entries->capacity) {
        size_t capacity = entries->capacity ? 2 * entries->capacity : 16;
        folder_entry *grown = realloc(entries->data, capacity * sizeof *grown);
        if (!grown)
            return false;
        entries->data = grown;
        entries->capacity = capacity;
    }
    folder_entry entry = {join(folder, found->d_name), UNKNOWN};
#ifdef DT_UNKNOWN
    if (found->d_type != DT_UNKNOWN)
        entry.kind = found->d_type == DT_DIR ? FOLDER : found->d_type == DT_REG ? REGULAR : OTHER;
#endif
    if (entry.path)
        entries->data[entries->length++] = entry;
    return entry.path != NULL;
}

static bool read_folder(cli_call *call, const char *folder, folder_list *entries)
{
    DIR *directory = opendir(folder);
    if (!directory) {
        cli_blame(call, folder, "%s", strerror(errno));
        return true;
    }
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ".git") != 0)
            good = add_entry(entries, folder, entry);
    }
    closedir(directory);
    if (!good)
        cli_no_memory();
    return good;
}

static bool walk(cli_call *call, const char *folder, size_t depth, cli_names *names)
{
    if (depth > DEEPEST) {
        cli_blame(call, folder, "more than %d folders deep", DEEPEST);
        return true;
    }
    folder_list entries = {0};
    bool good = read_folder(call, folder, &entries);
    if (entries.length > 0)
        qsort(entries.data, entries.length, sizeof *entries.data, by_path);
    for (size_t i = 0; i < entries.length; i++) {
        if (good)
            good = visit(call, &entries.data[i], depth, names);
        else
            free(entries.data[i].path);
    }
    free(entries.data);
    return good;
}

static bool add_operand(cli_call *call, const char *name, cli_names *names)
{
    struct stat status;
    if (call->recursive && strcmp(name, "-") != 0 && stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        return walk(call, name, 0, names);
    return add_owned(names, copy(name));
}

/* The names in the file of --files0-from, each ended by a zero byte. */
static bool add_listed(cli_call *call, cli_names *names)
{
    cli_source source;
    if (!cli_read_whole(call, &source, call->files0_from))
        return false;
    bool good = true;
    for (size_t start = 0; good && start < source.length;) {
        const char *name = source.data + start;
        size_t length = strnlen(name, source.length - start);
        if (length == 0) {
            cli_blame(call, call->files0_from, "byte %zu: a file name is empty", start);
        } else {
            char *owned = malloc(length + 1);
            if (owned) {
                memcpy(owned, name, length);
                owned[length] = '\0';
                good = add_operand(call, owned, names);
                free(owned);
            } else {
                cli_no_memory();
                good = false;
            }
        }
        start += length + 1;
    }
    cli_source_close(&source);
    return good;
}

bool cli_inputs(cli_call *call, cli_names *names)
{
    if (call->files0_from && call->operand_count > 0) {
        cli_say("%s: --files0-from and names of files exclude each other", call->command->name);
        return false;
    }
    if (call->files0_from)
        return add_listed(call, names);
    for (size_t i = 0; i < call->operand_count; i++)
        if (!add_operand(call, call->operands[i], names))
            return false;
    if (call->operand_count > 0)
        return true;
    return call->recursive ? add_operand(call, ".", names) : add_owned(names, copy("-"));
}

void cli_inputs_free(cli_names *names)
{
    for (size_t i = 0; i < names->length; i++)
        free(names->data[i]);
    cli_names_free(names);
}
