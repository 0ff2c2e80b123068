/** The search at the top of every page. */
export const finder = {
  label: 'Find a record',
  placeholder: 'Token, hash, id or person',
  placeholderWithoutPerson: 'Token, hash or id',
  find: 'Find',
  clear: 'Clear the search',
  results: 'What was found',
  finding: 'Searching …',
  found: (count: string) => (count === '1' ? '1 hit.' : `${count} hits.`),
  nothing: 'Nothing was found.',
  noToken: 'No record has this token. Check that it was copied completely.',
  canFind:
    'A consent token (ct_…), a proof hash (64 hexadecimal digits), or the id of a record, an erasure, a site or another object is looked up in every site of the organisation. A new record is found a moment after it was recorded.',
  personTitle: 'Search for a person with this value',
  personText: (sites: string) =>
    sites === '1'
      ? 'The search is written to the audit log with your reason, without the person. Erased records are not found.'
      : `The search covers ${sites} sites. Each search is written to the audit log with your reason, without the person. Erased records are not found.`,
  personSearch: 'Search for the person',
  personIn: (done: string, sites: string) => `Searching site ${done} of ${sites} …`,
  personNowhere: 'No site has a record of this person.',
  recordsIn: (site: string) => `Records of this person: ${site}`,
};
