#!/bin/sh
# Records a cookie consent of a person with curl and openssl over the S2S route, and checks it afterwards. The route for browsers would
# make the address of this machine part of the record.
#   BASE_URL=http://127.0.0.1:8080 API_KEY=svc_live_… API_USER=api@… API_PASSWORD=… sh record-consent.sh
set -eu

agent='record-consent-example/1.0'
path=/tool/v1/s2s/consents
version=$(curl -fsS -A "$agent" -H "X-API-Key: $API_KEY" "$BASE_URL/tool/v1/documents/cookie-policy/active?language=en" |
  sed -n 's/.*"version":{"id":"\([^"]*\)".*/\1/p')
bearer=$(printf '{"email":"%s","password":"%s"}' "$API_USER" "$API_PASSWORD" |
  curl -fsS -A "$agent" -H 'Content-Type: application/json' -d @- "$BASE_URL/api/v1/auth/login" |
  sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')

# The very bytes that are signed are sent.
body='{"consent_type":"cookie","decision":"partial","document_version_id":"'$version'","categories":{"necessary":true,"analytics":false},"visitor_id":"curl-example","ip_address":"192.0.2.7"}'
timestamp=$(date +%s)
nonce=$(openssl rand -hex 16)
body_hash=$(printf '%s' "$body" | openssl dgst -sha256 -hex | sed 's/.*= //')
signature=$(printf 'POST\n%s\n%s\n%s\n%s' "$path" "$timestamp" "$nonce" "$body_hash" |
  openssl dgst -sha256 -hmac "$API_KEY" -hex | sed 's/.*= //')

answer=$(curl -fsS -A "$agent" -X POST "$BASE_URL$path" \
  -H 'Content-Type: application/json' \
  -H "Authorization: Bearer $bearer" \
  -H "X-API-Key: $API_KEY" \
  -H "X-Timestamp: $timestamp" \
  -H "X-Nonce: $nonce" \
  -H "X-Signature: $signature" \
  --data-binary "$body")
# Not echo: that of dash turns \n within the JSON into a line feed.
printf '%s\n' "$answer"

token=$(printf '%s' "$answer" | sed -n 's/.*"consent_token":"\([^"]*\)".*/\1/p')
# The record is stored a moment after it was accepted.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if curl -fsS -A "$agent" -H "X-API-Key: $API_KEY" "$BASE_URL/tool/v1/consents/verify/$token" 2>/dev/null; then exit 0; fi
  sleep 1
done
echo "the record cannot be found yet" >&2
exit 1
