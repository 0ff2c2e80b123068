/**
 * SQL: the last revision of a stream in the batches below a size; no row if there is none. The stream's
 * number comes first, so that the index gives the revisions in their order.
 * @param stream SQL of the stream's name, e.g. `$1`
 * @param below SQL of the size
 */
export function lastSealed(stream: string, below: string): string {
  return `select e.revision from sealed_streams s cross join lateral (
      select e.revision from sealed_events e where e.stream = s.number and e.batch < ${below}
       order by e.stream desc, e.revision desc limit 1) e
    where s.stream = ${stream}`;
}
