import { createHash } from 'node:crypto';
import { keyBits, type TestCertificate } from './certificates.js';
import {
  bits,
  context,
  generalizedTime,
  implicit,
  integer,
  octets,
  oid,
  sequence,
  time,
  timeText,
  tlv,
} from './der.js';
import { hashIdentifier } from './keys.js';

export interface CrlOptions {
  readonly thisUpdate: Date;
  readonly nextUpdate?: Date;
  readonly revoked?: readonly { readonly serial: bigint; readonly at: Date; readonly reason?: number }[];
  readonly extensions?: readonly Uint8Array[];
  /** Signs in the issuer's place. */
  readonly signer?: TestCertificate;
}

const enumerated = (value: number) => tlv(0x0a, new Uint8Array([value]));

export function makeCrl(issuer: TestCertificate, options: CrlOptions): Uint8Array {
  const { signer } = options.signer ?? issuer;
  const entries = (options.revoked ?? []).map(({ serial, at, reason }) =>
    sequence(
      integer(serial),
      time(at),
      ...(reason === undefined ? [] : [sequence(sequence(oid('2.5.29.21'), octets(enumerated(reason))))]),
    ),
  );
  const tbs = sequence(
    integer(1),
    signer.algorithm,
    issuer.name,
    time(options.thisUpdate),
    ...(options.nextUpdate ? [time(options.nextUpdate)] : []),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    ...(options.extensions ? [context(0, sequence(...options.extensions))] : []),
  );
  return sequence(tbs, signer.algorithm, bits(signer.sign(tbs)));
}

export interface OcspOptions {
  readonly thisUpdate: Date;
  readonly nextUpdate?: Date;
  readonly status?: 'good' | 'unknown' | { readonly at: Date; readonly reason?: number };
  /** Answers in the issuer's place; its certificate is enclosed. */
  readonly responder?: TestCertificate;
  readonly byKey?: boolean;
  readonly producedAt?: Date;
  /** A further answer about the same certificate. */
  readonly second?: Pick<OcspOptions, 'status'>;
}

export function makeOcspResponse(
  certificate: TestCertificate,
  issuer: TestCertificate,
  options: OcspOptions,
): Uint8Array {
  const responder = options.responder ?? issuer;
  const sha1 = (bytes: Uint8Array) => octets(new Uint8Array(createHash('sha1').update(bytes).digest()));
  const certStatus = ({ status = 'good' }: Pick<OcspOptions, 'status'>) =>
    status === 'good'
      ? implicit(0, new Uint8Array(0))
      : status === 'unknown'
        ? implicit(2, new Uint8Array(0))
        : context(
            1,
            generalizedTime(timeText(status.at)),
            ...(status.reason === undefined ? [] : [context(0, enumerated(status.reason))]),
          );
  const single = (one: Pick<OcspOptions, 'status'>) =>
    sequence(
      sequence(
        hashIdentifier('sha1'),
        sha1(issuer.name),
        sha1(keyBits(issuer.signer.spki)),
        integer(certificate.serial),
      ),
      certStatus(one),
      generalizedTime(timeText(options.thisUpdate)),
      ...(options.nextUpdate ? [context(0, generalizedTime(timeText(options.nextUpdate)))] : []),
    );
  const responderId = options.byKey ? context(2, octets(responder.keyIdentifier)) : context(1, responder.name);
  const produced = generalizedTime(timeText(options.producedAt ?? options.thisUpdate));
  const tbs = sequence(
    responderId,
    produced,
    sequence(single(options), ...(options.second ? [single(options.second)] : [])),
  );
  const basic = sequence(
    tbs,
    responder.signer.algorithm,
    bits(responder.signer.sign(tbs)),
    ...(options.responder ? [context(0, sequence(responder.der))] : []),
  );
  return sequence(enumerated(0), context(0, sequence(oid('1.3.6.1.5.5.7.48.1.1'), octets(basic))));
}
