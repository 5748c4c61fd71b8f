// double.js KIND PORT REMOTE SOCKET [FILE PRISM]: a forge with a memory. It asks prism, which stands at the address PRISM with the published FILE,
// about each request; the answer is prism's example with what this forge remembers written over it. So each request is held against the file,
// each field of the answers is one that the file has, and the rest of an answer has the published form.
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')

const [kind, port, remote, socket, file, prism] = process.argv.slice(2)
const spec = file ? JSON.parse(fs.readFileSync(file, 'utf8')) : null
const account = 'brain-bot'
// Whose token it is: that of the bot, or that of the reviewer, whose programs read and approve.
const reviewer = 'ann'
const loginOf = headers => (/reviewer/.test(headers.authorization ?? headers['private-token'] ?? '') ? reviewer : account)
const prefix = { github: '', gitlab: '/api/v4', forgejo: '/api/v1', gitea: '/api/v1' }[kind]
// GitLab's file names the whole path, the others the path below the interface.
const inFile = kind === 'gitlab' ? prefix : ''
const day = n => `2026-01-26T14:${String(n % 60).padStart(2, '0')}:00Z`
let pulls, comments, reviews, statuses, heard = 0, plain = null, denied = false, recorded = true, least = false
const fresh = () => ([pulls, comments, reviews, statuses] = [[], [], [], []])
fresh()
const asked = new Map()
// Lists that come whole: the file has no size of a page for them.
const whole = new Set()
const written = []

// ---- the published file

const at = reference => reference.slice(2).split('/').reduce((one, key) => one[key.replace(/~1/g, '/')], spec)
const resolved = value => (value?.$ref ? resolved(at(value.$ref)) : value)
const template = path => {
    const parts = path.split('/')
    const fits = one => {
        const names = one.split('/')
        return names.length === parts.length && names.every((name, i) => name === parts[i] || (/^\{\w+\}$/.test(name) && parts[i] !== ''))
    }
    const holes = one => (one.match(/\{/g) ?? []).length
    return Object.keys(spec?.paths ?? {}).filter(fits).sort((a, b) => holes(a) - holes(b))[0]
}
const operation = (method, path) => spec?.paths[path]?.[method.toLowerCase()]
// Names that a query may have. The size of a page has two names at the forges, and git-brain sends both.
const unnamed = (method, path, query) => {
    const parameters = [...(spec.paths[path].parameters ?? []), ...(operation(method, path).parameters ?? [])].map(resolved)
    const names = new Set(parameters.filter(one => one.in === 'query').map(one => one.name))
    if (query.has('limit') && !names.has('per_page') && !names.has('limit')) whole.add(`${method} ${path}`)
    const wrong = [...query.keys()].filter(name => !names.has(name) && !['per_page', 'limit'].includes(name))
    return wrong.map(name => `the query ${name} is not in the file`)
}
const schemaOf = (method, path) => {
    const responses = operation(method, path)?.responses ?? {}
    const response = resolved(responses[Object.keys(responses).filter(code => /^2/.test(code)).sort()[0]])
    return response?.schema ?? response?.content?.['application/json']?.schema
}
const properties = schema => {
    const one = resolved(schema) ?? {}
    return Object.assign({}, one.properties, ...[one.allOf, one.oneOf, one.anyOf].flatMap(list => (list ?? []).map(properties)))
}
// What we remember, over an example, as far as the file has it.
const over = (schema, example, value, where, wrong) => {
    if (schema === undefined) return value
    const one = resolved(schema)
    if (Array.isArray(value)) {
        if (one.type !== 'array') wrong.push(`${where} is no list in the file`)
        return value.map(entry => over(one.items, Array.isArray(example) ? example[0] : undefined, entry, `${where}[]`, wrong))
    }
    if (value !== null && typeof value === 'object') {
        const known = properties(one)
        const out = example !== null && typeof example === 'object' && !Array.isArray(example) ? { ...example } : {}
        for (const [key, inner] of Object.entries(value)) {
            if (!(key in known)) { wrong.push(`${where}.${key} is not in the file`); continue }
            out[key] = over(known[key], example?.[key], inner, `${where}.${key}`, wrong)
        }
        return out
    }
    if (value !== null && one.enum && !one.enum.includes(value)) wrong.push(`${where} is never ${value} in the file`)
    const type = { string: 'string', number: 'integer', boolean: 'boolean' }[typeof value]
    const types = [one.type].flat()
    const isNumber = type === 'integer' && types.includes('number')
    if (value !== null && one.type && !types.includes(type) && !isNumber) wrong.push(`${where} is ${one.type} in the file`)
    return value
}

// The least that the file allows: null where it may be null, and without what it does not promise.
const bare = (schema, example) => {
    const one = resolved(schema) ?? {}
    if (one.nullable || [one.type].flat().includes('null')) return null
    if (Array.isArray(example)) return example.map(entry => bare(one.items, entry))
    if (example === null || typeof example !== 'object') return example
    const known = properties(one)
    const promised = one.required ?? Object.keys(example)
    return Object.fromEntries(Object.entries(example).filter(([key]) => promised.includes(key)).map(([key, value]) => [key, bare(known[key], value)]))
}

// ---- what the forge knows

const hear = () => {
    const lines = fs.existsSync(`${remote}/pushed`) ? fs.readFileSync(`${remote}/pushed`, 'utf8').split('\n').filter(Boolean) : []
    for (const line of lines.slice(heard)) {
        const [ref, commit, ...options] = line.split('\t')
        const said = name => options.find(option => option.startsWith(name))?.slice(name.length)
        if (ref.startsWith('refs/for/')) {
            const known = pulls.find(pull => pull.head === said('topic='))
            if (known) known.commit = commit
            else open({ title: said('title='), body: said('description='), head: said('topic='), base: ref.slice(9), commit })
        } else if (options.includes('merge_request.create')) {
            const body = (said('merge_request.description=') ?? '').replaceAll('\\n', '\n')
            open({ title: said('merge_request.title='), body, head: ref.slice(11), base: said('merge_request.target=') })
        }
    }
    heard = lines.length
}
const open = pull => (pulls.push({ number: pulls.length + 1, state: 'open', ...pull }), pulls.at(-1))
const tip = pull => {
    if (pull.commit) return pull.commit
    try {
        return execFileSync('git', ['--git-dir', remote, 'rev-parse', '--verify', '-q', `refs/heads/${pull.head}`], { encoding: 'utf8' }).trim()
    } catch {
        return '0'.repeat(40)
    }
}
const web = `http://127.0.0.1:${port}/ann/brain`
const isGitea = kind === 'forgejo' || kind === 'gitea'
const user = login => (kind === 'gitlab' ? { id: 1, username: login, name: login } : { id: 1, login })
const shown = pull => {
    if (kind === 'gitlab') {
        return {
            id: pull.number, iid: pull.number, project_id: 7, source_project_id: 7, target_project_id: 7, author: user(account),
            title: pull.title, description: pull.body, source_branch: pull.head, target_branch: pull.base, sha: tip(pull),
            state: pull.state === 'open' ? 'opened' : pull.state, web_url: `${web}/-/merge_requests/${pull.number}`,
            references: { short: `!${pull.number}`, relative: `!${pull.number}`, full: `ann/brain!${pull.number}` },
            created_at: day(0), updated_at: day(0),
        }
    }
    // Of a request by AGit the forges do not tell the topic.
    const name = pull.commit ? `refs/pull/${pull.number}/head` : pull.head
    return {
        number: pull.number, title: pull.title, body: pull.body, user: user(account), html_url: `${web}/pulls/${pull.number}`,
        state: pull.state === 'open' ? 'open' : 'closed', merged_at: pull.state === 'merged' ? day(0) : null,
        head: { ref: name, sha: tip(pull), label: kind === 'github' ? `ann:${name}` : name }, base: { ref: pull.base, sha: '0'.repeat(40), label: pull.base },
    }
}
const shownComment = one => (kind === 'gitlab'
    ? { id: one.id, body: one.body, system: !!one.system, author: user(one.login), created_at: day(one.id), updated_at: day(one.id) }
    : { id: one.id, body: one.body, user: user(one.login), created_at: day(one.id), updated_at: day(one.id) })
const find = number => pulls.find(pull => String(pull.number) === number) ?? pulls.at(-1)
const say = body => (comments.push({ id: 100 + comments.length, login: account, body }), comments.at(-1))
const reviewed = (login, approves, body) => {
    reviews = [{ login, approves, body, commit: tip(pulls.at(-1)) }]
    const words = approves ? 'approved this merge request' : 'requested changes'
    if (kind === 'gitlab') comments.push({ id: 100 + comments.length, login, system: true, body: words })
    return reviews[0]
}
const approvals = () => reviews.filter(one => one.approves)

const answer = (method, path, query, body, login) => {
    const parts = path.split('/').slice(1)
    const own = kind === 'gitlab' ? 2 : 3
    if (method === 'GET' && path === '/user') return denied ? [403, { message: 'Resource not accessible by integration' }] : [200, user(login)]
    if (method === 'GET' && path === '/version') return [200, { version: '1.23.0' }]
    if (!['repos', 'projects'].includes(parts[0])) return [404, { message: 'Not Found' }]
    const [what, number, more, id] = parts.slice(own)
    if (method === 'GET' && what === undefined) return [200, repository()]
    const isNotes = kind === 'gitlab' && what === 'merge_requests' && more === 'notes'
    const isComments = isNotes || (kind !== 'gitlab' && what === 'issues' && [number, more].includes('comments'))
    if (isComments) {
        if (method === 'GET') return [200, comments.map(shownComment)]
        if (method === 'POST') return [201, shownComment(say(body.body))]
        const one = comments.find(comment => String(comment.id) === (kind === 'gitlab' ? id : more)) ?? comments[0]
        one.body = body.body
        return [200, shownComment(one)]
    }
    if (what === 'pulls' || what === 'merge_requests' || (what === 'issues' && isGitea)) {
        if (more === 'reviews' && method === 'POST') return [200, shownReview(reviewed(login, body.event === 'APPROVED', body.body), 0)]
        if (more === 'reviews') return [200, reviews.map(shownReview)]
        if (more === 'approve') return reviewed(login, true, ''), [201, {}]
        if (more === 'approvals') return [200, { approved_by: approvals().map(one => ({ user: user(one.login), approved_at: day(30) })) }]
        const state = one => (one.approves ? 'approved' : 'requested_changes')
        if (more === 'reviewers') return [200, reviews.map(one => ({ user: user(one.login), state: state(one) }))]
        if (more === 'versions') return [200, reviews.map((one, i) => ({ id: i + 1, head_commit_sha: one.commit, created_at: day(0) }))]
        if (more === 'merge' && isGitea) return (find(number).state = 'merged'), [200, undefined]
        if (more) return [200, kind === 'gitlab' ? [] : undefined]
        if (method === 'POST') {
            const made = kind === 'gitlab' ? { head: body.source_branch, base: body.target_branch, body: body.description } : body
            return [201, shown(open({ title: body.title, body: made.body, head: made.head, base: made.base }))]
        }
        if (method === 'PATCH' || method === 'PUT') {
            const pull = find(number)
            if (body.state === 'closed' || body.state_event === 'close') pull.state = 'closed'
            if (body.title !== undefined) pull.title = body.title
            pull.body = body.body ?? body.description ?? pull.body
            return [isGitea ? 201 : 200, shown(pull)]
        }
        if (number) return pulls.length ? [200, shown(find(number))] : [404, { message: 'Not Found' }]
        const head = query.get('source_branch') ?? query.get('head')?.replace(/^ann:/, '')
        const wanted = query.get('state')?.replace('opened', 'open') ?? 'open'
        const fits = pull => (!head || head === pull.head) && (wanted === 'all' || (wanted === 'open') === (pull.state === 'open'))
        return [200, pulls.filter(fits).map(shown)]
    }
    if (path.endsWith('/statuses') || what === 'statuses') {
        if (method === 'GET') return [200, statuses]
        const one = kind === 'gitlab' ? { status: body.state, name: body.name, description: body.description }
            : { [isGitea ? 'status' : 'state']: body.state, context: body.context, description: body.description }
        statuses.unshift(one)
        return [201, one]
    }
    return method === 'GET' ? [200, undefined] : [404, { message: 'Not Found' }]
}
const shownReview = (one, i) => ({
    id: i + 1, user: user(one.login), body: one.body, commit_id: one.commit, submitted_at: day(i), ...(isGitea && { dismissed: false }),
    state: one.approves ? 'APPROVED' : kind === 'github' ? 'CHANGES_REQUESTED' : 'REQUEST_CHANGES',
})
const repository = () => (kind === 'gitlab'
    ? { id: 7, name: 'brain', path_with_namespace: 'ann/brain', web_url: web, default_branch: 'main', namespace: { id: 1, path: 'ann', full_path: 'ann' } }
    : { id: 7, name: 'brain', full_name: 'ann/brain', default_branch: 'main', owner: user('ann') })

// ---- the wire

const validated = async (method, path, search, headers, body) => {
    const known = template(inFile + path)
    if (!operation(method, known)) return { known, wrong: ['this call is not in the file'] }
    const wrong = unnamed(method, known, new URLSearchParams(search))
    const sent = { accept: 'application/json' }
    for (const name of ['authorization', 'content-type']) if (headers[name]) sent[name] = headers[name]
    const said = await fetch(prism + inFile + path + search, { method, headers: sent, body: body || undefined })
    const text = await said.text()
    let example
    try { example = JSON.parse(text) } catch { /* No body. */ }
    // prism finds faults in the file's own examples too; those are no business of ours.
    if (said.status >= 400) {
        const ours = (example?.validation ?? violations(said)).filter(one => one.location?.[0] !== 'response').map(one => one.message)
        wrong.push(...(ours.length ? ours : [`prism says ${said.status} ${example?.title ?? ''}`]))
    }
    return { known, wrong, example }
}
const violations = said => {
    try { return JSON.parse(said.headers.get('sl-violations') ?? '[]') } catch { return [] }
}
// Each name of each body and query that was sent, changed in turn: how many of these are noticed.
const broken = async () => {
    const missed = []
    let tried = 0
    for (const { method, path, search, headers, body } of written) {
        const try_ = async (name, search, body) => {
            tried++
            if ((await validated(method, path, search, headers, body)).wrong.length === 0) missed.push(`${method} ${path} ${name}`)
        }
        for (const name of body ? Object.keys(JSON.parse(body)) : []) {
            const { [name]: value, ...rest } = JSON.parse(body)
            await try_(name, search, JSON.stringify({ ...rest, [`${name}s`]: value }))
        }
        for (const name of new URLSearchParams(search).keys()) {
            if (!['per_page', 'limit'].includes(name)) await try_(name, search.replace(`${name}=`, `${name}s=`), body)
        }
    }
    return { tried, missed }
}
const told = {
    fresh: () => { fresh() },
    reword: text => { Object.assign(pulls.at(-1), { title: text, body: text }) },
    say: text => { comments[0].body += text },
    review: ({ login, approves, body }) => { reviewed(login, approves, body) },
    close: () => { pulls.forEach(pull => (pull.state = 'closed')); comments = []; reviews = [] },
    plain: words => { plain = words && new RegExp(words) },
    least: yes => { least = yes },
    denied: yes => { denied = yes },
    recorded: yes => { recorded = yes },
}
const state = () => ({ pulls: pulls.map(shown), comments, statuses, reviewed })
const graphql = kind === 'github' && require('./graphql.js')(`${process.env.PRISM}/../..`, state)
const note = (name, wrong) => {
    const one = asked.get(name) ?? { name, times: 0, problems: new Set() }
    one.times++
    wrong.forEach(text => one.problems.add(text))
    asked.set(name, one)
    return one
}
const report = () => {
    let wrong = 0
    const lines = [...asked.values()].sort((a, b) => a.name.localeCompare(b.name)).map(({ name, times, problems }) => {
        wrong += problems.size
        const line = `  ${problems.size ? 'WRONG' : 'fits '}  ${kind}  ${name}  (${times}${whole.has(name) ? ', comes whole' : ''})`
        return [line, ...[...problems].map(one => `         ${one}`)].join('\n')
    })
    return { text: lines.join('\n'), wrong }
}
const serve = async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const send = (code, value) => {
        response.writeHead(code, { 'content-type': 'application/json' }).end(value === undefined ? '' : JSON.stringify(value))
    }
    try {
        if (request.url === '/_told') {
            for (const [name, value] of Object.entries(JSON.parse(body))) told[name](value)
            return send(200, {})
        }
        if (request.url === '/_report') return response.end(`${report().text}\n`)
        if (request.url === '/_wrong') return response.end(String(report().wrong))
        if (request.url === '/_newest') return hear(), response.end(String(pulls.length))
        if (request.url === '/_broken') return send(200, await broken())
        hear()
        const url = new URL(request.url, 'http://x')
        if (!url.pathname.startsWith(prefix)) return send(404, { message: 'Not Found' })
        const path = url.pathname.slice(prefix.length)
        if (graphql && path === '/graphql') {
            const said = await graphql(JSON.parse(body), loginOf(request.headers))
            if (recorded) note('POST /graphql', (said.errors ?? []).map(one => one.message))
            if (process.env.LOUD) console.log('graphql', body.slice(0, 200), JSON.stringify(said).slice(0, 300))
            return send(200, said)
        }
        let [code, value] = answer(request.method, path, url.searchParams, body ? JSON.parse(body) : null, loginOf(request.headers))
        if (spec) {
            const { known, wrong, example } = await validated(request.method, path, url.search, request.headers, body)
            if (process.env.LOUD) console.log(request.method, request.url, body.slice(0, 300), wrong)
            if (code < 400 && known) {
                const name = `${request.method} ${known}`
                if (plain?.test(name)) value = least ? bare(schemaOf(request.method, known), example) : example
                else if (value === undefined) value = example
                else value = over(schemaOf(request.method, known), example, value, 'answer', wrong)
            }
            if (recorded && plain === null) {
                const one = note(`${request.method} ${known ?? path}`, wrong)
                if (one.times === 1) written.push({ method: request.method, path, search: url.search, headers: request.headers, body })
            }
        } else if (process.env.LOUD) console.log(request.method, request.url, body.slice(0, 300))
        send(code, value)
    } catch (error) {
        console.error(request.method, request.url, error)
        send(500, { message: String(error) })
    }
}
http.createServer(serve).listen(Number(port), '127.0.0.1')
if (kind === 'github') http.createServer(serve).listen(socket)
