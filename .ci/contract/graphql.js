// GitHub's GraphQL over what the double knows, by GitHub's published schema (@octokit/graphql-schema). What it does not know is empty.
const fs = require('node:fs')
const { createRequire } = require('node:module')

module.exports = (folder, state) => {
    const graphql = createRequire(`${folder}/`)('graphql')
    const { isNonNullType, isListType, isEnumType, isScalarType, getNullableType } = graphql
    const published = fs.readFileSync(`${folder}/@octokit/graphql-schema/schema.graphql`, 'utf8')
    const schema = graphql.buildSchema(published, { assumeValid: true })
    const pageInfo = { hasNextPage: false, endCursor: null }
    const connection = nodes => ({ totalCount: nodes.length, nodes, edges: nodes.map(node => ({ node })), pageInfo })
    const person = login => ({ __typename: 'User', id: login, login })
    const context = one => ({ __typename: 'StatusContext', context: one.context, state: one.state.toUpperCase(), description: one.description })
    const shown = pull => ({
        __typename: 'PullRequest', id: `PR_${pull.number}`, number: pull.number, title: pull.title, body: pull.body, url: pull.html_url,
        state: pull.merged_at ? 'MERGED' : pull.state.toUpperCase(), author: person(pull.user.login),
        headRefName: pull.head.ref, headRefOid: pull.head.sha, baseRefName: pull.base.ref,
        headRepositoryOwner: person('ann'), isCrossRepository: false,
        comments: connection(state().comments.map(one => ({ id: `C_${one.id}`, author: person(one.login), body: one.body }))),
        commits: connection([{ commit: { oid: pull.head.sha, statusCheckRollup: { contexts: connection(state().statuses.map(context)) } } }]),
    })
    const repository = {
        __typename: 'Repository', id: 'R_1', name: 'brain', owner: person('ann'), viewerPermission: 'WRITE', defaultBranchRef: { name: 'main' },
        pullRequests: ({ states, headRefName }) => connection(state().pulls.map(shown)
            .filter(pull => (!states || states.includes(pull.state)) && (!headRefName || headRefName === pull.headRefName))),
        pullRequest: ({ number }) => state().pulls.map(shown).find(pull => pull.number === number) ?? null,
    }
    const root = login => ({
        viewer: person(login), repository, node: ({ id }) => state().pulls.map(shown).find(pull => pull.id === id) ?? null,
        addPullRequestReview: ({ input }) => (state().reviewed(login, input.event === 'APPROVE', input.body), {}),
    })
    // GitHub itself is not as strict about this one, and its own program relies on that.
    const rules = graphql.specifiedRules.filter(rule => rule.name !== 'OverlappingFieldsCanBeMergedRule')
    const empty = type => {
        const inner = getNullableType(type)
        if (isListType(inner)) return []
        if (isEnumType(inner)) return inner.getValues()[0].value
        if (!isScalarType(inner)) return {}
        return { Int: 0, Float: 0, Boolean: false, DateTime: '2026-01-26T14:00:00Z' }[inner.name] ?? ''
    }
    const fieldResolver = (source, args, _, { fieldName, returnType }) => {
        const value = typeof source[fieldName] === 'function' ? source[fieldName](args) : source[fieldName]
        return value === undefined && isNonNullType(returnType) ? empty(returnType) : value
    }
    return async ({ query, variables, operationName }, login) => {
        const document = graphql.parse(query)
        const errors = graphql.validate(schema, document, rules)
        if (errors.length) return { errors: errors.map(one => ({ message: one.message })) }
        const typeResolver = value => value.__typename
        return graphql.execute({ schema, document, rootValue: root(login), variableValues: variables, operationName, fieldResolver, typeResolver })
    }
}
