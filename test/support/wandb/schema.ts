/**
 * The part of W&B's GraphQL schema that an export of histories needs, with the types of the real one.
 *
 * W&B publishes no schema. Names, arguments and types are those that the queries of its SDK use (github.com/wandb/wandb:
 * `core/api/graphql/query_runhistory_backend.graphql`, `query_project_runs.graphql`, `query_run_history_keys.graphql`,
 * `query_run_info.graphql`, `query_tail_history.graphql`; `wandb/apis/public/runs.py` and `history.py`): a variable
 * declared `$minStep: Int64!` fixes the argument's type, one declared `$samples: Int` fixes that it may be absent, and a
 * field is nullable where the SDK's generated code says so (`wandb/apis/_generated/fragments.py`, pointers in its Go code).
 * Fields of `Run` that the SDK's fragments ask for and that no export uses are there too, null but for `user`, so that its
 * own queries for runs and histories are valid here. No mutations, files, artifacts, sweeps or reports.
 */
import { buildSchema, GraphQLError, GraphQLScalarType, Kind, type GraphQLSchema, type ValueNode } from 'graphql'

const SDL = `
  scalar JSON
  scalar JSONString
  scalar DateTime
  scalar Int64

  type Query {
    project(name: String, entityName: String): Project
  }

  type Project {
    id: ID!
    name: String!
    entityName: String!
    readOnly: Boolean
    runCount(filters: JSONString): Int!
    run(name: String!): Run
    runs(filters: JSONString, after: String, first: Int, order: String): RunConnection
  }

  type RunConnection {
    edges: [RunEdge!]!
    pageInfo: PageInfo!
  }

  type RunEdge {
    node: Run
    cursor: String
  }

  type PageInfo {
    endCursor: String
    hasNextPage: Boolean!
  }

  type Run {
    id: ID!
    name: String!
    displayName: String
    state: String
    config: JSONString
    createdAt: DateTime!
    heartbeatAt: DateTime
    summaryMetrics: JSONString
    historyLineCount: Int
    historyKeys: JSON
    history(minStep: Int64, maxStep: Int64, samples: Int): [JSONString!]
    sampledHistory(specs: [JSONString!]!): [JSON]
    tags: [String!]
    sweepName: String
    group: String
    jobType: String
    commit: String
    readOnly: Boolean
    description: String
    notes: String
    systemMetrics: JSONString
    user: User
  }

  type User {
    name: String!
    username: String
  }
`

function scalar(schema: GraphQLSchema, name: string): GraphQLScalarType {
  const type = schema.getType(name)
  if (type instanceof GraphQLScalarType) return type
  throw new Error(`the schema has no scalar ${name}`)
}

function jsonString(value: unknown): string {
  if (typeof value !== 'string') throw new GraphQLError('JSONString cannot represent a value that is no string')
  try {
    JSON.parse(value)
  } catch (cause) {
    throw new GraphQLError('JSONString cannot represent a string that is no JSON', { originalError: cause as Error })
  }
  return value
}

function int64(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new GraphQLError(`Int64 cannot represent ${JSON.stringify(value)}`)
}

function literal(name: string, kind: Kind.STRING | Kind.INT, parse: (value: unknown) => unknown) {
  return (node: ValueNode): unknown => {
    if (node.kind !== kind) throw new GraphQLError(`${name} cannot represent this literal`, { nodes: node })
    return parse(kind === Kind.INT ? Number(node.value) : node.value)
  }
}

/** The schema, with scalars that refuse what the real ones refuse. */
export function wandbSchema(): GraphQLSchema {
  const schema = buildSchema(SDL)
  Object.assign(scalar(schema, 'JSONString'), {
    parseValue: jsonString,
    parseLiteral: literal('JSONString', Kind.STRING, jsonString)
  })
  Object.assign(scalar(schema, 'Int64'), { parseValue: int64, parseLiteral: literal('Int64', Kind.INT, int64) })
  return schema
}
