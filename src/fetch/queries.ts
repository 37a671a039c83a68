/**
 * The GraphQL documents that are sent. They only read. Names and types are those of the schema that W&B's own client is
 * written against; the tests validate each document.
 */

/** Runs of a project, oldest first, page by page. `name` is the id, `displayName` the name for people. */
export const RUNS_QUERY = `query Runs($entity: String!, $project: String!, $first: Int!, $after: String, $order: String!) {
  project(name: $project, entityName: $entity) {
    runs(first: $first, after: $after, order: $order) {
      edges { node { name displayName state createdAt } cursor }
      pageInfo { endCursor hasNextPage }
    }
  }
}`

/** Description of one run. */
export const RUN_QUERY = `query Run($entity: String!, $project: String!, $run: String!) {
  project(name: $project, entityName: $entity) {
    run(name: $run) { name displayName state createdAt heartbeatAt config historyLineCount historyKeys }
  }
}`

/** Rows of one run, from minStep to below maxStep. */
export const HISTORY_QUERY = `query History($entity: String!, $project: String!, $run: String!, $minStep: Int64!, $maxStep: Int64!, $samples: Int!) {
  project(name: $project, entityName: $entity) {
    run(name: $run) { history(minStep: $minStep, maxStep: $maxStep, samples: $samples) }
  }
}`
