{{/* A duration of the gateway's configuration in milliseconds. Takes a list: the key, for the sentence, and the value. */}}
{{- define "gateway.milliseconds" -}}
{{- $key := index . 0 -}}
{{- $value := toString (index . 1) -}}
{{- if not (regexMatch "^[0-9]{1,9}(ms|s|m|h|d)$" $value) -}}
{{- fail (printf "config.%s must be a whole number and one of ms, s, m, h, d, such as 10s: terminationGracePeriodSeconds is computed from it" $key) -}}
{{- end -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- mul (regexFind "^[0-9]+" $value | atoi) (get $units (regexFind "[a-z]+$" $value)) -}}
{{- end -}}

{{/*
How long a pod may take to stop: all that docs/operations.md adds up, rounded up. No preStop is in it, for none is needed: in
timing.drain.notice the gateway serves as before while endpoints and balancers look elsewhere.
*/}}
{{- define "gateway.graceSeconds" -}}
{{- $drain := ((.Values.config).timing).drain | default dict -}}
{{- $notice := include "gateway.milliseconds" (list "timing.drain.notice" ($drain.notice | default "0s")) -}}
{{- $inFlight := include "gateway.milliseconds" (list "timing.drain.inFlight" ($drain.inFlight | default "30s")) -}}
{{- $waves := include "gateway.milliseconds" (list "timing.drain.waves" ($drain.waves | default "10s")) -}}
{{- div (add ($notice | int64) ($inFlight | int64) ($waves | int64) 10000 999) 1000 -}}
{{- end -}}
