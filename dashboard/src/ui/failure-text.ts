import { ApiFailure } from '../api/failure.js';
import { useMessages } from '../i18n/locale.js';

/** Explains failures in the language of the user. The service explains its refusals in English. */
export function useFailureText(): (failure: unknown) => string {
  const { errors, common } = useMessages();
  return (failure) => {
    if (!(failure instanceof ApiFailure)) return common.problem;
    // Only a form can mark fields, and it says so itself.
    if (failure.code === 'VALIDATION_ERROR') return common.refusedValues;
    return errors[failure.code] ?? (failure.message || common.problem);
  };
}
