/*
 * Parameters of functions, given as a JSON schema, as the harmony format shows them to a model: as a type
 * of TypeScript with comments. The form is that of the package openai-harmony 0.0.8 (its src/encoding.rs),
 * to the byte, since each space is part of a token.
 */
#include <string.h>

#include "chat/chat.h"

enum { VARIANT_INDENT = 3, MEMBER_INDENT = 4 };

/* A description or title: any string, an empty one too. */
static const json_t *string_member(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);
    return json_is_string(value) ? value : NULL;
}

static bool is_true(const json_t *object, const char *field)
{
    return json_is_true(json_object_get(object, field));
}

static bool is_enum(const json_t *schema)
{
    return json_array_size(json_object_get(schema, "enum")) > 0;
}

static tik_status append(tik_bytes *out, const char *text, tik_error *error)
{
    return tik_bytes_append(out, text, strlen(text), error);
}

static tik_status append_string(tik_bytes *out, const json_t *text, tik_error *error)
{
    return tik_bytes_append(out, json_string_value(text), json_string_length(text), error);
}

static tik_status append_indent(tik_bytes *out, size_t indent, tik_error *error)
{
    static const char spaces[] = "                                ";
    tik_status status = TIK_OK;
    while (status == TIK_OK && indent > 0) {
        size_t some = indent < sizeof spaces - 1 ? indent : sizeof spaces - 1;
        status = tik_bytes_append(out, spaces, some, error);
        indent -= some;
    }
    return status;
}

/* A line of a comment: before, text, after. */
static tik_status append_line(tik_bytes *out, size_t indent, const char *before, const json_t *text, const char *after,
                              tik_error *error)
{
    tik_status status = append_indent(out, indent, error);
    if (status == TIK_OK)
        status = append(out, before, error);
    if (status == TIK_OK)
        status = append_string(out, text, error);
    return status == TIK_OK ? append(out, after, error) : status;
}

/* How the default of a string with choices is written. */
typedef enum choice_form { CHOICE_BARE, CHOICE_QUOTED } choice_form;

/* "default: ", and the value: a string in quotes but not escaped, unless it is one of the schema's choices. */
static tik_status append_default(tik_bytes *out, const json_t *schema, choice_form form, tik_error *error)
{
    const json_t *value = json_object_get(schema, "default");
    tik_status status = append(out, "default: ", error);
    if (status != TIK_OK)
        return status;
    if (json_is_string(value) && !is_enum(schema))
        return append_line(out, 0, "\"", value, "\"", error);
    if (json_is_string(value) && form == CHOICE_BARE)
        return append_string(out, value, error);
    return tik_chat_value(value, out, error);
}

/* A schema's type, and "| null" where null is allowed and not yet among it. */
static tik_status append_nullable(tik_bytes *out, const json_t *schema, size_t indent, tik_error *error)
{
    static const char null[] = "null";
    size_t start = out->length;
    tik_status status = tik_chat_typescript(schema, indent, out, error);
    if (status != TIK_OK || !is_true(schema, "nullable"))
        return status;
    for (size_t i = start; i + sizeof null - 1 <= out->length; i++)
        if (memcmp(out->data + i, null, sizeof null - 1) == 0)
            return TIK_OK;
    return append(out, " | null", error);
}

/* What stands behind a variant: a description, a default. */
static tik_status append_variant_comment(tik_bytes *out, const json_t *variant, const json_t *description,
                                         choice_form form, tik_error *error)
{
    bool has_default = json_object_get(variant, "default") != NULL;
    tik_status status = description || has_default ? append(out, " // ", error) : TIK_OK;
    if (status == TIK_OK && description)
        status = append_string(out, description, error);
    if (status == TIK_OK && description && has_default)
        status = append(out, " ", error);
    if (status == TIK_OK && has_default)
        status = append_default(out, variant, form, error);
    return status;
}

/* A schema that is one of several. */
static tik_status append_variants(tik_bytes *out, const json_t *variants, size_t indent, tik_error *error)
{
    size_t i;
    json_t *variant;
    tik_status status = TIK_OK;
    json_array_foreach((json_t *)(uintptr_t)variants, i, variant)
    {
        if (status == TIK_OK)
            status = append(out, "\n", error);
        if (status == TIK_OK)
            status = append_indent(out, indent, error);
        if (status == TIK_OK)
            status = append(out, " | ", error);
        if (status == TIK_OK)
            status = append_nullable(out, variant, indent + VARIANT_INDENT, error);
        if (status == TIK_OK)
            status = append_variant_comment(out, variant, string_member(variant, "description"), CHOICE_QUOTED, error);
    }
    return status;
}

static tik_status append_name(tik_bytes *out, size_t indent, const char *key, bool is_required, const char *after,
                              tik_error *error)
{
    tik_status status = append_indent(out, indent, error);
    if (status == TIK_OK)
        status = append(out, key, error);
    if (status == TIK_OK && !is_required)
        status = append(out, "?", error);
    return status == TIK_OK ? append(out, after, error) : status;
}

/*
 * A member that is one of several. Its own description stands above it, unless the first variant has the
 * same; where it does, the first variant's is left out, as is every one that only repeats it.
 */
static tik_status append_variant_member(tik_bytes *out, const char *key, const json_t *schema, bool is_required,
                                        size_t indent, tik_error *error)
{
    const json_t *variants = json_object_get(schema, "oneOf");
    const json_t *own = string_member(schema, "description");
    const json_t *first = string_member(json_array_get(variants, 0), "description");
    bool above = own && !(first && json_equal(own, first));
    tik_status status = above ? append_line(out, indent, "// ", own, "\n", error) : TIK_OK;
    if (status == TIK_OK && json_object_get(schema, "default")) {
        status = append_indent(out, indent, error);
        if (status == TIK_OK)
            status = append(out, "// ", error);
        if (status == TIK_OK)
            status = append_default(out, schema, CHOICE_BARE, error);
        if (status == TIK_OK)
            status = append(out, "\n", error);
    }
    if (status == TIK_OK)
        status = append_name(out, indent, key, is_required, ":\n", error);
    size_t i;
    json_t *variant;
    json_array_foreach((json_t *)(uintptr_t)variants, i, variant)
    {
        const json_t *description = string_member(variant, "description");
        if ((i == 0 && above) || (description && own && json_equal(description, own)))
            description = NULL;
        if (status == TIK_OK)
            status = append_indent(out, indent, error);
        if (status == TIK_OK)
            status = append(out, " | ", error);
        if (status == TIK_OK)
            status = append_nullable(out, variant, indent + VARIANT_INDENT, error);
        if (status == TIK_OK)
            status = append_variant_comment(out, variant, description, CHOICE_BARE, error);
        if (status == TIK_OK)
            status = append(out, "\n", error);
    }
    if (status == TIK_OK)
        status = append_indent(out, indent, error);
    return status == TIK_OK ? append(out, ",\n", error) : status;
}

static tik_status append_examples(tik_bytes *out, const json_t *examples, size_t indent, tik_error *error)
{
    size_t i;
    json_t *example;
    if (json_array_size(examples) == 0)
        return TIK_OK;
    tik_status status = append_indent(out, indent, error);
    if (status == TIK_OK)
        status = append(out, "// Examples:\n", error);
    json_array_foreach((json_t *)(uintptr_t)examples, i, example)
        if (status == TIK_OK && json_is_string(example))
            status = append_line(out, indent, "// - \"", example, "\"\n", error);
    return status;
}

static tik_status append_member(tik_bytes *out, const char *key, const json_t *schema, bool is_required, size_t indent,
                                tik_error *error)
{
    const json_t *title = string_member(schema, "title");
    const json_t *description = string_member(schema, "description");
    const json_t *variants = json_object_get(schema, "oneOf");
    tik_status status = TIK_OK;
    if (title) {
        status = append_line(out, indent, "// ", title, "\n", error);
        if (status == TIK_OK)
            status = append_indent(out, indent, error);
        if (status == TIK_OK)
            status = append(out, "//\n", error);
    }
    if (status == TIK_OK && description && !variants)
        status = append_line(out, indent, "// ", description, "\n", error);
    if (status == TIK_OK)
        status = append_examples(out, json_object_get(schema, "examples"), indent, error);
    if (status != TIK_OK)
        return status;
    if (json_is_array(variants))
        return append_variant_member(out, key, schema, is_required, indent, error);
    status = append_name(out, indent, key, is_required, ": ", error);
    if (status == TIK_OK)
        status = append_nullable(out, schema, indent + MEMBER_INDENT, error);
    if (status == TIK_OK)
        status = append(out, ",", error);
    if (status == TIK_OK && !variants && json_object_get(schema, "default")) {
        status = append(out, " // ", error);
        if (status == TIK_OK)
            status = append_default(out, schema, CHOICE_BARE, error);
    }
    return status == TIK_OK ? append(out, "\n", error) : status;
}

/* The required names as the keys of an object, so that each is found at once. */
static json_t *required_names(const json_t *schema)
{
    size_t i;
    json_t *name;
    json_t *names = json_object();
    json_array_foreach(json_object_get(schema, "required"), i, name)
        if (names && json_is_string(name) && json_object_set_new(names, json_string_value(name), json_true()) != 0) {
            json_decref(names);
            names = NULL;
        }
    return names;
}

static tik_status append_object(tik_bytes *out, const json_t *schema, size_t indent, tik_error *error)
{
    const json_t *description = string_member(schema, "description");
    tik_status status = description ? append_line(out, indent, "// ", description, "\n", error) : TIK_OK;
    json_t *required = required_names(schema);
    if (!required)
        return tik_fail_memory(error, 0);
    if (status == TIK_OK)
        status = append(out, "{\n", error);
    const char *key;
    json_t *member;
    json_object_foreach(json_object_get(schema, "properties"), key, member)
        if (status == TIK_OK)
            status = append_member(out, key, member, json_object_get(required, key) != NULL, indent, error);
    json_decref(required);
    if (status == TIK_OK)
        status = append_indent(out, indent, error);
    return status == TIK_OK ? append(out, "}", error) : status;
}

/* Several types at once: `*found` says whether there was any. */
static tik_status append_types(tik_bytes *out, const json_t *types, bool *found, tik_error *error)
{
    size_t i;
    json_t *type;
    tik_status status = TIK_OK;
    *found = false;
    json_array_foreach((json_t *)(uintptr_t)types, i, type)
    {
        if (!json_is_string(type) || status != TIK_OK)
            continue;
        if (*found)
            status = append(out, " | ", error);
        if (status == TIK_OK && strcmp(json_string_value(type), "integer") == 0)
            status = append(out, "number", error);
        else if (status == TIK_OK)
            status = append_string(out, type, error);
        *found = true;
    }
    return status;
}

/* The choices of a string. */
static tik_status append_choices(tik_bytes *out, const json_t *choices, tik_error *error)
{
    size_t i;
    json_t *choice;
    bool found = false;
    tik_status status = TIK_OK;
    json_array_foreach((json_t *)(uintptr_t)choices, i, choice)
    {
        if (!json_is_string(choice) || status != TIK_OK)
            continue;
        status = append_line(out, 0, found ? " | \"" : "\"", choice, "\"", error);
        found = true;
    }
    return status == TIK_OK && !found ? append(out, "string", error) : status;
}

tik_status tik_chat_typescript(const json_t *schema, size_t indent, tik_bytes *out, tik_error *error)
{
    const json_t *variants = json_object_get(schema, "oneOf");
    if (json_is_array(variants))
        return append_variants(out, variants, indent, error);
    bool found = false;
    const json_t *types = json_object_get(schema, "type");
    tik_status status = append_types(out, types, &found, error);
    if (status != TIK_OK || found)
        return status;
    const char *type = json_is_string(types) ? json_string_value(types) : "";
    if (strcmp(type, "object") == 0)
        return append_object(out, schema, indent, error);
    if (strcmp(type, "string") == 0)
        return append_choices(out, json_object_get(schema, "enum"), error);
    if (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0)
        return append(out, "number", error);
    if (strcmp(type, "boolean") == 0)
        return append(out, "boolean", error);
    const json_t *items = json_object_get(schema, "items");
    if (strcmp(type, "array") == 0 && items) {
        status = tik_chat_typescript(items, indent, out, error);
        return status == TIK_OK ? append(out, "[]", error) : status;
    }
    return append(out, strcmp(type, "array") == 0 ? "Array<any>" : "any", error);
}
