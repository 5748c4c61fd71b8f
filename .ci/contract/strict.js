// strict.js FILE OUT: of a forge's published OpenAPI file the paths that git-brain may ask. A field that a body does not name is an error:
// the files leave that open, and a wrong name would pass.
const fs = require('node:fs')
const { createRequire } = require('node:module')

const [file, out] = process.argv.slice(2)
const text = fs.readFileSync(file, 'utf8')
const read = () => createRequire(`${process.env.PRISM}/`)('js-yaml').load(text)
const whole = text.trimStart().startsWith('{') ? JSON.parse(text) : read()
const kept = [
    /^\/(user|version)$/,
    /^\/repos\/\{\w+\}\/\{\w+\}(\/(pulls|issues|commits|statuses)\b.*)?$/,
    /^\/api\/v4\/user$/,
    /^\/api\/v4\/projects\/\{id\}(\/(merge_requests|statuses|repository\/commits)\b.*)?$/,
]
// GitLab's file forgets of some lists that they are lists.
const lists = /^\/api\/v4\/.*\/(merge_requests|notes|reviewers|versions|statuses)$/
const small = { ...whole, paths: {} }
for (const key of ['components', 'definitions', 'parameters', 'responses', 'tags', 'webhooks', 'x-webhooks']) delete small[key]

const keysOf = reference => reference.slice(2).split('/').map(key => key.replace(/~1/g, '/').replace(/~0/g, '~'))
const at = reference => keysOf(reference).reduce((value, key) => value?.[key], whole)
const resolved = value => (value?.$ref ? resolved(at(value.$ref)) : value)
const closed = schema => {
    const one = { ...resolved(schema) }
    if (one.properties && !one.allOf && !one.oneOf && !one.anyOf) one.additionalProperties = false
    return one
}
for (const [path, operations] of Object.entries(whole.paths)) {
    if (!kept.some(one => one.test(path))) continue
    small.paths[path] = structuredClone(operations)
    for (const operation of Object.values(small.paths[path])) {
        if (operation.requestBody) {
            operation.requestBody = structuredClone(resolved(operation.requestBody))
            for (const content of Object.values(operation.requestBody.content)) content.schema = closed(content.schema)
        }
        const answer = operation.responses?.['200']?.content?.['application/json']
        if (answer && lists.test(path) && operation === small.paths[path].get && resolved(answer.schema).type !== 'array') {
            answer.schema = { type: 'array', items: answer.schema }
        }
        for (const one of operation.parameters ?? []) if (one.in === 'body') one.schema = closed(one.schema)
    }
}
// What those paths refer to, and what that refers to.
const brought = new Set()
const bring = value => {
    if (value === null || typeof value !== 'object') return
    const reference = value.$ref
    if (typeof reference === 'string' && reference.startsWith('#/') && !brought.has(reference)) {
        brought.add(reference)
        const keys = keysOf(reference)
        const last = keys.pop()
        let place = small
        for (const key of keys) place = place[key] ??= {}
        place[last] = at(reference)
        bring(place[last])
    }
    Object.values(value).forEach(bring)
}
bring(small.paths)
for (const { properties: own } of Object.values(small.components?.schemas ?? {})) {
    if (own?.approved_by && resolved(own.approved_by).type !== 'array') own.approved_by = { type: 'array', items: own.approved_by }
}
// prism's own examples follow no format of a text, and its numbers are as low as they can be.
const loosen = value => {
    if (value === null || typeof value !== 'object') return
    if (typeof value.format === 'string' && value.format !== 'date-time' && value.type === 'string') delete value.format
    if (value.type === 'integer' && !('enum' in value)) value.example ??= 7
    Object.values(value).forEach(loosen)
}
loosen(small)
if (whole.components?.securitySchemes) (small.components ??= {}).securitySchemes = whole.components.securitySchemes
fs.writeFileSync(out, JSON.stringify(small))
