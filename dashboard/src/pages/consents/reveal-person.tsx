import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConsentSummary } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm.js';
import { useAction } from '../../ui/use-action.js';
import { ReasonInput, useKeepReason } from './reason.js';
import { useSearchPerson } from './searched-person.js';
import { listedAt } from './state-at.js';

interface RevealPersonProps {
  readonly siteId: string;
  readonly item: ConsentSummary;
}

/** Shows the person of a record on request, for a reason. The service writes each disclosure to the audit log. */
export function RevealPerson({ siteId, item }: RevealPersonProps) {
  const { consents } = useMessages();
  const { moment } = useFormats();
  const api = useApi();
  const search = useSearchPerson(siteId);
  const keepReason = useKeepReason();
  const [shown, setShown] = useState<{ readonly visitor: string; readonly reason: string } | null>(null);
  const [asks, setAsks] = useState(false);
  const disclose = useAction((because: string) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/consents/{consent_id}/disclose', {
        params: { path: { site_id: siteId, consent_id: item.id } },
        body: { fields: ['visitor_id'], reason: because },
      }),
    ),
  );
  if (item.is_anonymized || item.record === null) return null;
  if (shown?.visitor === '') return consents.noPerson;
  return (
    <>
      {/* One button for both, so that the focus of the dialog returns to it. */}
      <Button
        look="quiet"
        onPress={() =>
          shown === null ? setAsks(true) : search({ by: 'visitor_id', value: shown.visitor }, shown.reason)
        }
        aria-label={
          shown === null
            ? `${consents.showPerson}: ${moment(listedAt(item.record, false))}`
            : `${consents.history}: ${shown.visitor}`
        }
      >
        {shown?.visitor ?? consents.show}
      </Button>
      <ConfirmDialog
        label={consents.showPerson}
        isDanger={false}
        isOpen={asks}
        onClose={() => setAsks(false)}
        action={async (values) => {
          const reason = values.text('reason');
          const { visitor_id: found } = (await disclose(reason)).fields;
          const visitor = typeof found === 'string' ? found : '';
          keepReason(reason, item.id, visitor);
          setShown({ visitor, reason });
        }}
      >
        <p>{consents.discloseText}</p>
        <ReasonInput about={item.id} />
      </ConfirmDialog>
    </>
  );
}
