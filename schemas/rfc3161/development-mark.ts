/**
 * Part of the name in every certificate of the development authority. Anyone can run such an
 * authority and set its clock, so its tokens must not be mistaken for evidence.
 */
export const DEVELOPMENT_MARK = 'DEVELOPMENT ONLY – NOT EVIDENCE';
