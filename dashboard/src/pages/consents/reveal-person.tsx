import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConsentSummary } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { useFailureText } from '../../ui/failure-text.js';
import { useAction } from '../../ui/use-action.js';
import { useSearchPerson } from './searched-person.js';
import { listedAt } from './state-at.js';

interface RevealPersonProps {
  readonly siteId: string;
  readonly item: ConsentSummary;
}

/** Shows the person of a record on request. The service writes each disclosure to the audit log. */
export function RevealPerson({ siteId, item }: RevealPersonProps) {
  const { consents } = useMessages();
  const { moment } = useFormats();
  const failureText = useFailureText();
  const api = useApi();
  const search = useSearchPerson(siteId);
  const [shown, setShown] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const disclose = useAction(() =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/consents/{consent_id}/disclose', {
        params: { path: { site_id: siteId, consent_id: item.id } },
        body: { fields: ['visitor_id'] },
      }),
    ),
  );
  if (item.is_anonymized || item.record === null) return null;
  if (shown !== null) {
    return shown === '' ? (
      consents.noPerson
    ) : (
      <Button
        look="quiet"
        aria-label={`${consents.history}: ${shown}`}
        onPress={() => search({ by: 'visitor_id', value: shown })}
      >
        {shown}
      </Button>
    );
  }
  const reveal = async () => {
    setBusy(true);
    try {
      const { visitor_id: visitor } = (await disclose(undefined)).fields;
      setShown(typeof visitor === 'string' ? visitor : '');
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  return (
    <>
      <Button
        look="quiet"
        isBusy={isBusy}
        onPress={reveal}
        aria-label={`${consents.showPerson}: ${moment(listedAt(item.record, false))}`}
      >
        {consents.show}
      </Button>
      {failure === null ? null : (
        <span role="alert" className="field-error">
          {failureText(failure)}
        </span>
      )}
    </>
  );
}
