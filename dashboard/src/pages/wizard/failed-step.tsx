import { ApiFailure } from '../../api/failure.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useFailureText } from '../../ui/failure-text.js';
import { fieldMessage } from '../../ui/field-message.js';
import { Notice } from '../../ui/notice.js';
import { problemPlace } from '../banner/problem-place.js';
import { StepFailure } from './plan.js';

/** Says which step failed and why, and that the same press goes on from there. */
export function FailedStep({ failure }: { readonly failure: unknown }) {
  const { wizard, banner, rules, fieldMessages } = useMessages();
  const { languageName } = useFormats();
  const failureText = useFailureText();
  const { step, reason } = failure instanceof StepFailure ? failure : { step: null, reason: failure };
  const fields = reason instanceof ApiFailure ? reason.fields : [];
  return (
    <Notice kind="problem" isAnnounced>
      <p>
        <strong>{step === null ? wizard.failedRead : wizard.failedAt(wizard.calls[step])}</strong>
      </p>
      <p>{reason === null ? wizard.noEffect : failureText(reason)}</p>
      {fields.length === 0 ? null : (
        <ul className="list">
          {fields.map(({ field, message }) => (
            <li key={field + message}>
              {problemPlace(field, { banner, rules }, languageName)}: {fieldMessage(fieldMessages, message)}
            </li>
          ))}
        </ul>
      )}
      <p>{wizard.failedNext}</p>
    </Notice>
  );
}
