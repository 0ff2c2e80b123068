import type { SessionStep } from './session.js';

/**
 * Settings of a session whose statements look up rows of large tables by their keys, or read them page by
 * page in the order of a key. With the statistics of a moment at which a table was empty, or with none, the
 * planner would read and sort all of it for each page. A plan that has no index to use is still found.
 * Such a plan seems dear before PostgreSQL 18, so that `jit` would compile each of them.
 */
export const INDEX_LOOK_UPS: SessionStep = {
  sql: `select ${['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']
    .map((name) => `set_config('${name}', 'off', false)`)
    .join(', ')}`,
};

/** As `INDEX_LOOK_UPS`, where also joins of whole tables look up each row of the other one by its key. */
export const INDEX_JOINS: SessionStep = {
  sql: `select set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false)`,
};
