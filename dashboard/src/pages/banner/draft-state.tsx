import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Confirm } from '../../ui/confirm.js';
import { fieldMessage } from '../../ui/field-message.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';
import { problemPlace } from './problem-place.js';

type DraftProblem = ConfigurationDraft['problems'][number];

interface DraftStateProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  /** Languages whose default texts publishing confirms; undefined while they are not known. */
  readonly unconfirmed: readonly string[] | undefined;
}

/** The version in force, and the conditions for publishing the draft. */
export function DraftState({ siteId, draft, unconfirmed }: DraftStateProps) {
  const { banner, fieldMessages } = useMessages();
  const { number, languageName, list } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const publish = useAction(() =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/configuration/publish', {
        params: { path: { site_id: siteId } },
        // Publishes only the draft that was shown.
        body: { revision: draft.revision },
      }),
    ),
  );
  const words: Readonly<Record<string, string>> = {
    'is missing': banner.isMissing,
    'must list at least one language': banner.needsLanguage,
  };
  const worded = ({ field, message }: DraftProblem): string => {
    const what = field.startsWith('appearance.')
      ? banner.isUnfair
      : (words[message] ?? fieldMessage(fieldMessages, message));
    return `${problemPlace(field, banner, languageName)}: ${what}`;
  };
  return (
    <Section title={banner.state}>
      <p>
        {draft.in_force === null ? banner.noneInForce : banner.inForce(number(draft.in_force.number))}{' '}
        {draft.in_force === null ? '' : draft.has_changes ? banner.changed : banner.unchanged}
      </p>
      {draft.problems.length === 0 ? null : (
        <Notice kind="warning">
          <p>{banner.problems}</p>
          <ul className="list">
            {[...new Set(draft.problems.map(worded))].map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </Notice>
      )}
      {mayChange && draft.has_changes && draft.problems.length === 0 && unconfirmed !== undefined ? (
        <div className="actions">
          <Confirm
            label={unconfirmed.length === 0 ? banner.publish : banner.defaults.publish}
            look="primary"
            isDanger={false}
            action={() => publish(undefined)}
          >
            <p>{banner.publishText}</p>
            {unconfirmed.length === 0 ? null : (
              <p>{banner.defaults.publishText(list(unconfirmed.map(languageName)))}</p>
            )}
          </Confirm>
        </div>
      ) : null}
    </Section>
  );
}
