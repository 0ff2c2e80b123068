/**
 * SQL: the first checkpoint that covers a Merkle batch and that enough authorities have stamped. A checkpoint of size n covers
 * the batches 0 to n − 1: this file is the one place that says so.
 * @param batch SQL of the batch's number, e.g. `l.batch` or `$1`
 * @param columns of `checkpoints`, separated by commas
 */
export function firstStamp(batch: string, columns: string): string {
  return `select ${columns} from checkpoints where size > ${batch} order by size limit 1`;
}

/**
 * SQL: joins `firstStamp` to a row. Where no checkpoint covers the batch, every column of the join is
 * null.
 * @param alias of the joined row
 */
export function joinFirstStamp(batch: string, columns: string, alias: string): string {
  return `left join lateral (${firstStamp(batch, columns)}) ${alias} on true`;
}

/** SQL: whether a checkpoint with a time stamp covers a Merkle batch. @param batch SQL of the batch's number */
export function isStamped(batch: string): string {
  return `${batch} < (select coalesce(max(size), 0) from checkpoints)`;
}
