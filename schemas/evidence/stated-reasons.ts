/** What a package can state that it was made for. A closed list, because free text could name a person. */
export const STATED_REASONS = [
  'data_subject_request',
  'regulator_request',
  'court_proceedings',
  'controller_request',
  'internal_audit',
  'migration',
  'other',
] as const;
