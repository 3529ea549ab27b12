/*
 * embed: run by the build. Reads the manifests, model names and prices of vocab/, checks each rank
 * file against its SHA-256, lays its tables out, and writes into the output folder
 *
 *     registry_data.c        manifests, model names and prices as C data
 *     embedded_data.c        the embedded tables, taken in by .incbin (as C arrays they would take
 *                            minutes and gigabytes to compile)
 *     RANK_FILE.tables       what it takes in
 *
 * usage: embed OUTPUT_FOLDER all|none|NAME,… native|swapped MODELS.json PRICES.json MANIFEST.json…
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/codec.h"
#include "registry/registry.h"
#include "vocab/vocab.h"

enum { MOST_FILES = 64, FIRST_MANIFEST = 6 /* among the arguments */ };

static _Noreturn void stop(const char *what, const char *why)
{
    fprintf(stderr, "embed: %s: %s\n", what, why);
    exit(1);
}

static char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    if (!path)
        stop(name, "no memory");
    snprintf(path, length, "%s/%s", folder, name);
    return path;
}

static tik_bytes read_file(const char *path)
{
    tik_bytes data = TIK_BYTES_INIT;
    char block[65536];
    FILE *file = fopen(path, "rb");
    if (!file)
        stop(path, "cannot be opened");
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        if (tik_bytes_append(&data, block, got, NULL) != TIK_OK)
            stop(path, "no memory");
    if (ferror(file))
        stop(path, "cannot be read");
    fclose(file);
    return data;
}

static FILE *create(const char *folder, const char *name)
{
    char *path = join(folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        stop(path, "cannot be written");
    free(path);
    return file;
}

static void finish(FILE *file, const char *name)
{
    if (ferror(file) || fclose(file) != 0)
        stop(name, "cannot be written");
}

static void write_string(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte >= 0x20 && byte < 0x7F && byte != '?')
            fputc(byte, out);
        else
            fprintf(out, "\\%03o", byte);
    }
    fputc('"', out);
}

static void write_optional(FILE *out, const char *text)
{
    if (text)
        write_string(out, text, strlen(text));
    else
        fputs("NULL", out);
}

static void write_manifest(FILE *out, const tik_manifest *manifest)
{
    fputs("    {\n        .name = ", out);
    write_string(out, manifest->name, strlen(manifest->name));
    fputs(",\n        .pattern = ", out);
    write_string(out, manifest->pattern, manifest->pattern_length);
    fprintf(out, ",\n        .pattern_length = %zu,\n        .rank_file = ", manifest->pattern_length);
    write_optional(out, manifest->rank_file);
    fputs(",\n        .sha256 = ", out);
    write_optional(out, manifest->sha256);
    fputs(",\n        .url = ", out);
    write_optional(out, manifest->url);
    fprintf(out, ",\n        .specials = specials_%s,\n        .special_count = %zu,\n", manifest->name,
            manifest->special_count);
    fprintf(out, "        .explicit_vocab_size = %zu,\n    },\n", manifest->explicit_vocab_size);
}

static void write_specials(FILE *out, const tik_manifest *manifest)
{
    fprintf(out, "static const tik_special specials_%s[] = {\n", manifest->name);
    for (size_t i = 0; i < manifest->special_count; i++) {
        const tik_special *special = &manifest->specials[i];
        fputs("    {", out);
        write_string(out, special->text, special->length);
        fprintf(out, ", %zu, %u},\n", special->length, (unsigned)special->id);
    }
    fputs("};\n\n", out);
}

static size_t write_models(FILE *out, const json_t *models, bool is_prefix)
{
    const char *name;
    json_t *encoding;
    json_object_foreach((json_t *)(uintptr_t)models, name, encoding)
    {
        if (!json_is_string(encoding))
            stop(name, "has no encoding");
        fputs("    {", out);
        write_string(out, name, strlen(name));
        fputs(", ", out);
        write_optional(out, json_string_value(encoding));
        fprintf(out, ", %s},\n", is_prefix ? "true" : "false");
    }
    return json_object_size(models);
}

static void write_names(FILE *out, const char *what, size_t index, const char *const *names, size_t count)
{
    if (count == 0)
        return;
    fprintf(out, "static const char *const price_%s_%zu[] = {", what, index);
    for (size_t i = 0; i < count; i++) {
        write_string(out, names[i], strlen(names[i]));
        fputs(i + 1 < count ? ", " : "};\n", out);
    }
}

static void write_name_list(FILE *out, const char *what, size_t index, size_t count)
{
    if (count > 0)
        fprintf(out, "price_%s_%zu, %zu, ", what, index, count);
    else
        fputs("0, 0, ", out);
}

static void write_amount(FILE *out, tik_amount amount)
{
    fprintf(out, "{%lluu, %lluu}, ", (unsigned long long)amount.whole, (unsigned long long)amount.parts);
}

static void write_rates(FILE *out, const tik_rates *rates)
{
    fputc('{', out);
    write_amount(out, rates->input);
    write_amount(out, rates->cached);
    write_amount(out, rates->output);
    fprintf(out, "%d, %d}, ", rates->has_cached, rates->has_output);
}

static void write_prices(FILE *out, const char *path)
{
    tik_error error;
    tik_prices *prices;
    tik_bytes json = read_file(path);
    if (tik_prices_parse(json.data, json.length, path, &prices, &error) != TIK_OK)
        stop(path, error.message);
    tik_bytes_free(&json);
    for (size_t i = 0; i < prices->count; i++) {
        const tik_price_entry *entry = &prices->entries[i];
        write_names(out, "names", i, entry->names, entry->name_count);
        write_names(out, "prefixes", i, entry->prefixes, entry->prefix_count);
    }
    fputs("static const tik_price_entry price_entries[] = {\n", out);
    for (size_t i = 0; i < prices->count; i++) {
        const tik_price_entry *entry = &prices->entries[i];
        fputs("    {", out);
        write_string(out, entry->name, strlen(entry->name));
        fputs(", ", out);
        write_name_list(out, "names", i, entry->name_count);
        write_name_list(out, "prefixes", i, entry->prefix_count);
        fprintf(out, "%zu, %d, ", entry->window, entry->has_rates);
        write_rates(out, &entry->rates);
        fprintf(out, "%lluu, ", (unsigned long long)entry->long_above);
        write_rates(out, &entry->long_rates);
        write_optional(out, entry->since);
        fputs("},\n", out);
    }
    fputs("};\nconst tik_prices tik_public_prices = {", out);
    write_optional(out, prices->currency);
    fputs(", ", out);
    write_optional(out, prices->date);
    fputs(", ", out);
    write_optional(out, prices->source);
    fprintf(out, ", price_entries, %zu, 0, 0};\n", prices->count);
    tik_prices_close(prices);
}

static void write_registry(const char *folder, tik_manifest *const *manifests, size_t count, const char *models_path,
                           const char *prices_path)
{
    json_error_t fault;
    json_t *models = json_load_file(models_path, JSON_REJECT_DUPLICATES, &fault);
    if (!models)
        stop(models_path, fault.text);
    FILE *out = create(folder, "registry_data.c");
    fputs("/* Written by tools/embed.c from the manifests, models.json and prices.json of vocab/. */\n"
          "#include \"registry/registry.h\"\n\n",
          out);
    for (size_t i = 0; i < count; i++)
        write_specials(out, manifests[i]);
    fputs("const tik_manifest tik_public_manifests[] = {\n", out);
    for (size_t i = 0; i < count; i++)
        write_manifest(out, manifests[i]);
    fprintf(out, "};\nconst size_t tik_public_manifest_count = %zu;\n\n", count);
    fputs("const tik_model_name tik_model_names[] = {\n", out);
    size_t names = write_models(out, json_object_get(models, "models"), false);
    names += write_models(out, json_object_get(models, "prefixes"), true);
    fprintf(out, "};\nconst size_t tik_model_name_count = %zu;\n\n", names);
    write_prices(out, prices_path);
    finish(out, "registry_data.c");
    json_decref(models);
}

/* Whether `name` is one of the comma-separated `list`. */
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    if (strcmp(list, "all") == 0)
        return true;
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0))
            return true;
    }
    return false;
}

/* Every name of the list must be an encoding's. */
static void check_list(const char *list, tik_manifest *const *manifests, size_t count)
{
    char names[512];
    if (strcmp(list, "all") == 0 || strcmp(list, "none") == 0)
        return;
    if (strlen(list) >= sizeof names)
        stop("-Dembed", "the list is too long");
    memcpy(names, list, strlen(list) + 1);
    for (char *rest, *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        size_t i = 0;
        while (i < count && strcmp(manifests[i]->name, name) != 0)
            i++;
        if (i == count)
            stop("-Dembed", "names an encoding that there is not: it takes all, none, or names as in vocab/*.json");
    }
}

static void lay_out(const char *folder, const char *vocab_folder, const tik_manifest *manifest, bool swapped)
{
    tik_error error;
    char *path = join(vocab_folder, manifest->rank_file);
    tik_bytes data = read_file(path);
    char hex[65];
    if (tik_codec_sha256(data.data, data.length, hex, &error) != TIK_OK)
        stop(path, error.message);
    if (!manifest->sha256 || strcmp(hex, manifest->sha256) != 0)
        stop(path, "its SHA-256 is not that of the manifest");
    tik_ranks ranks;
    void *tables;
    size_t size;
    if (tik_ranks_parse(data.data, data.length, path, tik_codec_base64_decode, &ranks, &error) != TIK_OK ||
        tik_vocab_layout(&ranks, &tables, &size, &error) != TIK_OK)
        stop(path, error.message);
    if (swapped)
        tik_vocab_swap(tables);
    char name[256];
    snprintf(name, sizeof name, "%s.tables", manifest->rank_file);
    FILE *out = create(folder, name);
    fwrite(tables, 1, size, out);
    finish(out, name);
    free(tables);
    tik_ranks_free(&ranks);
    tik_bytes_free(&data);
    free(path);
}

int main(int argc, char **argv)
{
    if (argc <= FIRST_MANIFEST || argc - FIRST_MANIFEST > MOST_FILES)
        stop("usage", "embed OUTPUT_FOLDER all|none|NAME,... native|swapped MODELS.json PRICES.json MANIFEST.json...");
    const char *folder = argv[1];
    const char *list = argv[2];
    bool swapped = strcmp(argv[3], "swapped") == 0;
    size_t count = (size_t)(argc - FIRST_MANIFEST);
    tik_manifest *manifests[MOST_FILES];
    const tik_manifest *embedded[MOST_FILES]; /* the first manifest of each rank file */
    size_t embedded_count = 0;
    for (size_t i = 0; i < count; i++) {
        tik_error error;
        tik_bytes json = read_file(argv[FIRST_MANIFEST + i]);
        if (tik_manifest_parse(json.data, json.length, argv[FIRST_MANIFEST + i], &manifests[i], &error) != TIK_OK)
            stop(argv[FIRST_MANIFEST + i], error.message);
        tik_bytes_free(&json);
    }
    check_list(list, manifests, count);
    write_registry(folder, manifests, count, argv[4], argv[5]);

    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        while (known < embedded_count && strcmp(embedded[known]->rank_file, manifests[i]->rank_file) != 0)
            known++;
        if (known < embedded_count || !is_listed(list, manifests[i]->name))
            continue;
        char *vocab_folder = strdup(argv[FIRST_MANIFEST + i]);
        char *slash = vocab_folder ? strrchr(vocab_folder, '/') : NULL;
        if (!slash)
            stop(argv[FIRST_MANIFEST + i], "must be given with its folder");
        *slash = 0;
        lay_out(folder, vocab_folder, manifests[i], swapped);
        free(vocab_folder);
        embedded[embedded_count++] = manifests[i];
    }

    FILE *out = create(folder, "embedded_data.c");
    fputs("/* Written by tools/embed.c. */\n#include \"vocab/embedded.h\"\n\n"
          "#ifdef __APPLE__\n#define SECTION \".section __TEXT,__const\\n\"\n#define NAME(name) \"_\" name\n"
          "#define HIDDEN \".private_extern \"\n"
          "#else\n#define SECTION \".section .rodata\\n\"\n#define NAME(name) name\n#define HIDDEN \".hidden \"\n"
          "#endif\n\n",
          out);
    for (size_t i = 0; i < embedded_count; i++) {
        fprintf(out, "extern const unsigned char tik_tables_%zu[], tik_tables_end_%zu[];\n", i, i);
        fprintf(out, "__asm__(SECTION HIDDEN NAME(\"tik_tables_%zu\") \"\\n\" HIDDEN NAME(\"tik_tables_end_%zu\") \"\\n\"\n", i, i);
        fprintf(out, "        \".globl \" NAME(\"tik_tables_%zu\") \"\\n.globl \" NAME(\"tik_tables_end_%zu\") \"\\n\"\n", i, i);
        fprintf(out, "        \".balign 4096\\n\" NAME(\"tik_tables_%zu\") \":\\n.incbin \\\"%s/%s.tables\\\"\\n\"\n", i, folder,
                embedded[i]->rank_file);
        fprintf(out, "        NAME(\"tik_tables_end_%zu\") \":\\n.byte 0\\n.text\\n\");\n\n", i);
    }
    fputs("const tik_embedded tik_embedded_files[] = {\n", out);
    for (size_t i = 0; i < embedded_count; i++)
        fprintf(out, "    {\"%s\", tik_tables_%zu, tik_tables_end_%zu},\n", embedded[i]->sha256, i, i);
    fprintf(out, "    {0, 0, 0},\n};\nconst size_t tik_embedded_count = %zu;\n", embedded_count);
    finish(out, "embedded_data.c");
    for (size_t i = 0; i < count; i++)
        tik_manifest_free(manifests[i]);
    return 0;
}
