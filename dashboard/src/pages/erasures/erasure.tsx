import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { LoadedPage } from '../../ui/loaded-page.js';
import { Page, Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useSiteId } from '../sites/use-site.js';
import { ErasureState } from './erasures.js';
import { statementForPerson, statementOf } from './statement.js';

/** The receipt of an erasure. */
export function ErasurePage() {
  const { erasures, common } = useMessages();
  const formats = useFormats();
  const { number, date } = formats;
  const api = useApi();
  const siteId = useSiteId();
  const { erasureId = '' } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ['erasure', siteId, erasureId],
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/sites/{site_id}/erasures/{erasure_id}', {
          params: { path: { site_id: siteId, erasure_id: erasureId } },
        }),
      ),
    // Read again until the erasure is carried out and proved in the ledger: it is finished before it is announced.
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'finished' &&
      data.unannounced_records === 0 &&
      data.announcements.every((one) => one.state === 'stamped')
        ? false
        : 2000,
  });
  return (
    <LoadedPage
      query={query}
      back={
        <Link to="/sites/$siteId/erasures" params={{ siteId }}>
          {erasures.title}
        </Link>
      }
    >
      {(receipt) => (
        <Page title={erasures.receipt} actions={<Button onPress={() => window.print()}>{erasures.print}</Button>}>
          <Section title={erasures.statement} lead={erasures.statementLead}>
            <div className="stack">
              {statementForPerson(receipt, erasures, formats).map((sentence) => (
                <p key={sentence}>{sentence}</p>
              ))}
            </div>
          </Section>
          <Section title={erasures.technical} lead={erasures.technicalLead}>
            <div className="stack">
              {statementOf(receipt, erasures, formats).map((sentence) => (
                <p key={sentence}>{sentence}</p>
              ))}
            </div>
          </Section>
          <Section title={common.state}>
            <Facts
              items={[
                [common.state, <ErasureState key="state" state={receipt.state} />],
                [erasures.reason, erasures.reasons[receipt.reason]],
                [erasures.requested, <Time key="requested" at={receipt.requested_at} />],
                [
                  erasures.finished,
                  receipt.finished_at === null ? '' : <Time key="finished" at={receipt.finished_at} />,
                ],
                [erasures.erasedRecords, number(receipt.erased_records)],
                [erasures.destroyedPackages, number(receipt.destroyed_packages)],
                ...(receipt.remains.backups_until === null
                  ? []
                  : [[erasures.backups, erasures.backupsUntil(date(receipt.remains.backups_until))] as const]),
                ...receipt.announcements.map(
                  (one) => [erasures.announcements, erasures.announcementStates[one.state]] as const,
                ),
              ]}
            />
          </Section>
        </Page>
      )}
    </LoadedPage>
  );
}
