/**
 * SQL: key of the lock under which rows of `persons` of a site are added, shared, and deleted, alone. The
 * lock of the site's row is no help: to add one against it, the sealer would have to wait for admission.
 * @param site SQL of the site's id
 */
export function personsLock(site: string): string {
  return `hashtextextended('persons of ' || ${site}, 0)`;
}
